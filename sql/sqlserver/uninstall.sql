-- uninstall: remove all queues and jobs, and the schema `readpast`. If the three roles
-- have no members, remove the roles, too.
-- Run it in the database of the queue. If install.sql did not create the schema
-- `readpast`, nothing is removed.
--
-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: The readpast authors

set nocount on;
set xact_abort on;
declare @name nvarchar(200), @kind nvarchar(20), @drop nvarchar(400), @n int = 0,
        @value nvarchar(100);
if col_length(N'readpast.meta', N'value') is not null
	exec sp_executesql
		N'select @value = m.value from [readpast].meta as m where m.name = N''sqlserver''',
		N'@value nvarchar(100) output', @value = @value output;
if @value is null
	throw 52010, N'this database has no queue of readpast: nothing was removed', 1;
begin transaction;
while 1 = 1
begin
	set @name = null;
	select top (1) @name = o.name,
	       @kind = case o.type when 'V' then N'view' when 'P' then N'procedure'
	                           when 'FN' then N'function' when 'U' then N'table' end
	  from sys.objects as o
	 where o.schema_id = schema_id(N'readpast') and o.type in ('V', 'P', 'FN', 'U')
	 order by case o.type when 'V' then 1 when 'P' then 2 when 'FN' then 3 else 4 end,
	          o.name;
	if @name is null
		break;
	set @drop = concat(N'drop ', @kind, N' [readpast].', quotename(@name));
	exec sp_executesql @drop;
	set @n = @n + 1;
end;
drop sequence [readpast].job_id;
exec sp_executesql N'drop schema [readpast]';
commit transaction;
print concat(N'readpast: removed the schema, with ', @n, N' objects and all jobs.');
if not exists (select 1 from sys.database_role_members as m
                inner join sys.database_principals as p
                   on p.principal_id = m.role_principal_id
                where p.name in (N'readpast_producer', N'readpast_worker', N'readpast_admin'))
begin
	drop role readpast_producer;
	drop role readpast_worker;
	drop role readpast_admin;
end
else
	print N'readpast: the roles readpast_... have members, and were left.';
