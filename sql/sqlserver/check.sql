-- check: refuse to install in these cases: the server or the database is too old; the
-- caller lacks rights; the schema `readpast` exists, but is not a queue of readpast; a
-- newer install.sql has made the schema `readpast`.
-- After an error SQL Server still runs the next batch. So this batch creates the table
-- #readpast_refused, and drops it only if there is no error. The next batch, `stop`,
-- stops the script if the table exists.
-- Errors: 52010 to 52013.

set nocount on;
if object_id(N'tempdb..#readpast_refused') is not null
	drop table #readpast_refused;
create table #readpast_refused (why nvarchar(1) not null);

declare @schema nvarchar(100);
if col_length(N'readpast.meta', N'name') is not null
   and col_length(N'readpast.meta', N'value') is not null
	exec sp_executesql
		N'select @value = m.value from [readpast].meta as m where m.name = N''sqlserver''',
		N'@value nvarchar(100) output', @value = @schema output;

-- Azure SQL (EngineEdition 5 and 8) and Babelfish have version numbers of their own.
if serverproperty('BabelfishVersion') is null
   and (cast(serverproperty('ProductMajorVersion') as int) < 13
        and cast(serverproperty('EngineEdition') as int) not in (5, 8)
        or (select d.compatibility_level from sys.databases as d
             where d.database_id = db_id()) < 130)
	throw 52013, N'readpast needs SQL Server 2016 or later, and a database with a compatibility level of 130 or more', 1;
if schema_id(N'readpast') is not null and @schema is null
   and exists (select 1 from sys.objects as o
                where o.schema_id = schema_id(N'readpast'))
	throw 52010, N'this database has a schema readpast that is not a queue of readpast: nothing was changed', 1;
if cast(@schema as int) > 1
	throw 52011, N'the schema readpast was made by a newer install.sql: nothing was changed', 1;
if serverproperty('BabelfishVersion') is null
   and (has_perms_by_name(null, N'DATABASE', N'CREATE TABLE') = 0
        or has_perms_by_name(null, N'DATABASE', N'CREATE SCHEMA') = 0
        or has_perms_by_name(null, N'DATABASE', N'CREATE PROCEDURE') = 0
        or has_perms_by_name(null, N'DATABASE', N'CREATE ROLE') = 0)
	throw 52012, N'you may not create schemas, tables, procedures and roles in this database: ask for the role db_owner', 1;
drop table #readpast_refused;
