-- install: the queue of readpast for SQL Server 2016 and later and Azure SQL. PREVIEW.
-- tools/join_tsql.py has made this script from the other files of this folder.
-- Run it in the database that is to have the queue. It may be run again: jobs, queues
-- and settings stay. With sqlcmd: sqlcmd -b -I -d DATABASE -i install.sql
--
-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: The readpast authors

set quoted_identifier on;
set ansi_nulls on;
set ansi_padding on;
set ansi_warnings on;
go
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
go
-- stop: stop the script if the batch before this one, `check`, has raised an error. Then
-- the table #readpast_refused exists. After `set noexec on` the server only compiles the
-- batches, and does not run them.

if object_id(N'tempdb..#readpast_refused') is not null
	set noexec on;
go
-- tables: the tables of the queue. A table that exists already is left as it is.
-- Texts that are compared have a binary collation. So names that differ only in case
-- or in accents are different names, whatever the collation of the database.

if schema_id(N'readpast') is null
	exec sp_executesql N'create schema [readpast]';

if object_id(N'readpast.meta', N'U') is null
	create table [readpast].meta (
		name nvarchar(50) collate latin1_general_bin2 not null,
		value nvarchar(100) collate latin1_general_bin2 not null,
		constraint meta_pk primary key clustered (name)
	);
if not exists (select 1 from [readpast].meta as m where m.name = N'sqlserver')
	insert into [readpast].meta (name, value)
	values (N'sqlserver', N'1'),
	       (N'swept_at', N'2000-01-01T00:00:00'),
	       (N'installed_at', convert(nvarchar(100), sysutcdatetime(), 126));

-- This table has a row for each queue, with its settings.
-- paused_at: the time at which the queue was paused. No job of a paused queue is
-- claimed. Null: the queue is not paused.
if object_id(N'readpast.queue', N'U') is null
	create table [readpast].queue (
		id int identity(1, 1) not null,
		name nvarchar(128) collate latin1_general_bin2 not null,
		paused_at datetime2(3) null,
		pause_reason nvarchar(255) null,
		max_attempts int not null default 3,
		lease_ms bigint not null default 60000,
		backoff_ms bigint not null default 10000,
		backoff_max_ms bigint not null default 3600000,
		priority int not null default 100,
		keep_done_ms bigint not null default 0,
		keep_dead_ms bigint not null default 2592000000,
		max_payload bigint not null default 16777216,
		constraint queue_pk primary key clustered (id),
		constraint queue_name unique nonclustered (name)
	);

-- queue_use has a row for each queue. The rows exist only to be locked. An enqueue keeps
-- a shared lock on its queue's row until its transaction ends. So a queue cannot be
-- dropped while an open transaction has added jobs to it. Only a transaction that
-- creates or drops the queue locks the row exclusively. So an enqueue waits for this row
-- only while such a transaction is open.
if object_id(N'readpast.queue_use', N'U') is null
	create table [readpast].queue_use (
		queue_id int not null,
		constraint queue_use_pk primary key clustered (queue_id)
	);

-- This table has a row for each lane that was ever used. A lane holds the ready jobs of
-- one queue, priority and class. Its number lane_id is queue_id * 1024 + priority * 4 +
-- class. Claims read the lanes of a queue in the order of these numbers.
-- The classes are 0 front (the job was released, or its lease ran out once), 1 suspect
-- (a job that may have killed its worker), 2 normal. If two transactions add the same
-- lane at the same time, both may add a row. The sweep deletes one of these rows.
-- cursor_at: claims start at this place of the lane (a value of job.seq). Each sweep
-- moves it to the first ready job, so claims do not read the remains of finished jobs
-- before this place.
if object_id(N'readpast.lane', N'U') is null
	create table [readpast].lane (
		id bigint identity(1, 1) not null,
		queue_id int not null,
		lane_id bigint not null,
		cursor_at bigint not null default 0,
		constraint lane_pk primary key clustered (queue_id, lane_id, id)
	);

if object_id(N'readpast.job_id', N'SO') is null
	create sequence [readpast].job_id as bigint start with 1 increment by 1 cache 1000;

-- A live job is in the ready line or out of it. The rows are sorted by lane_id and seq.
-- seq is a time, in microseconds since 1970.
--   In the ready line: lane_id is the number of the job's lane, and seq is the time at
--     which the job became ready. The job is ready, or it was claimed a moment ago.
--   Out of the line: lane_id is -queue_id. The job is scheduled, and seq is its run_at.
--     Or the job has been running for more than a second, and seq is its lease_until.
-- A job is running while lease_until is not null. No index contains a column that a
-- claim sets, so a claim changes the row in place and changes no index.
-- claim_no: the number of the last claim, see docs/design.md.
-- worker_id: the worker that got the job with this claim_no. 0: a client without a
-- name. Null: no claim has this number, so no verdict is accepted.
-- class: 0 front, 1 suspect or 2 normal, see the table `lane`. A scheduled job goes to
-- the lane of this class when it becomes ready.
-- lost: how many of the job's latest leases ran out in a row.
-- renewed: how many times the lease was renewed.
if object_id(N'readpast.job', N'U') is null
begin
	create table [readpast].job (
		lane_id bigint not null,
		seq bigint not null,
		id bigint not null,
		queue_id int not null,
		priority int not null,
		class tinyint not null default 2,
		claim_no bigint not null default 0,
		lease_until datetime2(3) null,
		worker_id bigint null,
		attempt int not null default 0,
		max_attempts int not null,
		lost int not null default 0,
		renewed int not null default 0,
		run_at datetime2(3) not null,
		created_at datetime2(3) not null,
		unique_key nvarchar(255) collate latin1_general_bin2 null,
		kind nvarchar(128) collate latin1_general_bin2 null,
		headers nvarchar(max) null,
		last_error nvarchar(4000) null,
		failures nvarchar(max) null,
		payload varbinary(max) not null,
		constraint job_line primary key clustered (lane_id, seq, id)
	);
	create unique index job_id on [readpast].job (id);
	create unique index job_unique on [readpast].job (queue_id, unique_key)
		where unique_key is not null;
end;

-- Finished jobs that are kept.
-- state: 4 done, 5 dead, 6 cancelled.
if object_id(N'readpast.archive', N'U') is null
begin
	create table [readpast].archive (
		queue_id int not null,
		state tinyint not null,
		finished_at datetime2(3) not null,
		id bigint not null,
		priority int not null,
		claim_no bigint not null,
		worker nvarchar(255) null,
		attempt int not null,
		max_attempts int not null,
		run_at datetime2(3) not null,
		created_at datetime2(3) not null,
		unique_key nvarchar(255) collate latin1_general_bin2 null,
		kind nvarchar(128) collate latin1_general_bin2 null,
		headers nvarchar(max) null,
		last_error nvarchar(4000) null,
		failures nvarchar(max) null,
		payload varbinary(max) not null,
		constraint archive_state primary key clustered
			(queue_id, state, finished_at, id)
	);
	create unique index archive_id on [readpast].archive (id);
end;

if object_id(N'readpast.worker', N'U') is null
	create table [readpast].worker (
		id bigint identity(1, 1) not null,
		name nvarchar(255) collate latin1_general_bin2 not null,
		started_at datetime2(3) not null,
		seen_at datetime2(3) not null,
		constraint worker_pk primary key clustered (id),
		constraint worker_name unique nonclustered (name)
	);

-- The queues that a worker has claimed from, by name.
if object_id(N'readpast.worker_queue', N'U') is null
	create table [readpast].worker_queue (
		worker_id bigint not null,
		queue nvarchar(128) collate latin1_general_bin2 not null,
		constraint worker_queue_pk primary key clustered (worker_id, queue)
	);

-- Dropped queues whose jobs the sweep has not deleted yet.
if object_id(N'readpast.dropped', N'U') is null
	create table [readpast].dropped (
		queue_id int not null,
		constraint dropped_pk primary key clustered (queue_id)
	);
go
-- locks: settings of the table `job` that Babelfish does not have.
-- ALLOW_PAGE_LOCKS = OFF: READPAST must skip single rows, and not whole pages. The
-- price is that ALTER INDEX REORGANIZE is impossible. Rebuild the index instead.
-- LOCK_ESCALATION = DISABLE: without this setting, a claim or a sweep of more than
-- 5,000 jobs would lock the whole table, and all other calls would wait.
-- OPTIMIZE_FOR_SEQUENTIAL_KEY: it makes inserts faster when many sessions insert at
-- the end of the same lane. SQL Server 2019 and later have the option.

if serverproperty('BabelfishVersion') is null
begin
	exec sp_executesql N'ALTER INDEX ALL ON [readpast].job SET (ALLOW_PAGE_LOCKS = OFF)';
	exec sp_executesql N'ALTER TABLE [readpast].job SET (LOCK_ESCALATION = DISABLE)';
	if cast(serverproperty('ProductMajorVersion') as int) >= 15
	   or serverproperty('EngineEdition') in (5, 8)
		exec sp_executesql N'ALTER INDEX job_line ON [readpast].job
			SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)';
end;
go
-- drop_views: drop the view `jobs`, because install.sql drops the functions that the
-- view uses, and creates them again. Later install.sql creates the view again, too.

if object_id(N'readpast.jobs') is not null
	drop view [readpast].jobs;
go
if object_id(N'readpast.is_bad_name') is not null
	drop function [readpast].is_bad_name;
go
-- is_bad_name: return whether a text must be refused as a name, because it is empty, is
-- too long, has control characters, or ends with a space. (A comparison ignores spaces
-- at the end, so two names that differ only in such spaces would be the same name.)
-- @name: the text. Null is not refused.
-- @most: the largest length that is allowed, in UTF-16 characters.
-- Result: 1 if the text must be refused, 0 if not.
-- Locks: none.

create function [readpast].is_bad_name(@name nvarchar(4000), @most int)
returns int
as
begin
	return case
		when @name is null then 0
		when datalength(@name) = 0 or len(@name) > @most then 1
		when right(@name, 1) = N' ' then 1
		when @name collate latin1_general_bin2
		     like N'%[' + nchar(1) + N'-' + nchar(31)
		          + nchar(127) + N'-' + nchar(159) + N']%' then 1
		else 0
	end;
end;
go
if object_id(N'readpast.utf8_of') is not null
	drop function [readpast].utf8_of;
go
-- utf8_of: encode a text as UTF-8. (The server's own UTF-8 needs SQL Server 2019.)
-- The bytes are written as hexadecimal digits first, because Babelfish cannot append
-- bytes to bytes.
-- @text: the text.
-- Result: its bytes.
-- Locks: none.

create function [readpast].utf8_of(@text nvarchar(max))
returns varbinary(max)
as
begin
	declare @hex varchar(max) = '', @part varchar(8000) = '', @i bigint = 1,
	        @end bigint, @c int, @low int, @digits int, @bytes bigint;
	if @text collate Latin1_General_BIN2
	   not like N'%[^' + nchar(1) + N'-' + nchar(127) + N']%'
		return convert(varbinary(max), convert(varchar(max), @text));
	-- len() ignores spaces at the end of its argument.
	set @end = len(@text + N'.') - 1;
	while @i <= @end
	begin
		set @c = unicode(substring(@text, @i, 1));
		set @i = @i + 1;
		set @low = unicode(substring(@text, @i, 1));
		-- Two surrogates stand for one character above U+FFFF.
		if @c between 55296 and 56319 and @low between 56320 and 57343
		begin
			set @c = 65536 + (@c - 55296) * 1024 + @low - 56320;
			set @i = @i + 1;
		end;
		-- The bytes of the character, as one number.
		set @digits = case when @c < 128 then 2 when @c < 2048 then 4
		                   when @c < 65536 then 6 else 8 end;
		set @bytes = case @digits
			when 2 then @c
			when 4 then 49280 + @c / 64 * 256 + @c % 64
			when 6 then 14712960 + @c / 4096 * 65536 + @c / 64 % 64 * 256 + @c % 64
			else 4034953344 + cast(@c / 262144 as bigint) * 16777216
			     + @c / 4096 % 64 * 65536 + @c / 64 % 64 * 256 + @c % 64 end;
		while @digits > 0
		begin
			set @digits = @digits - 1;
			set @part = @part + substring('0123456789ABCDEF',
				cast(@bytes / power(cast(16 as bigint), @digits) % 16 as int) + 1, 1);
		end;
		if len(@part) > 4000
		begin
			set @hex = @hex + @part;
			set @part = '';
		end;
	end;
	return convert(varbinary(max), @hex + @part, 2);
end;
go
if object_id(N'readpast.text_of') is not null
	drop function [readpast].text_of;
go
-- text_of: decode a payload that is UTF-8.
-- @bytes: the payload.
-- Result: its text, or 0x and hexadecimal digits if it is not UTF-8.
-- Locks: none.

create function [readpast].text_of(@bytes varbinary(max))
returns nvarchar(max)
as
begin
	declare @text nvarchar(max) = convert(nvarchar(max), N''),
	        @part nvarchar(4000) = N'', @i bigint = 1,
	        @end bigint = datalength(@bytes), @b int, @more int, @c int, @least int;
	while @i <= @end
	begin
		set @b = convert(int, substring(@bytes, @i, 1));
		set @more = case when @b < 128 then 0 when @b between 194 and 223 then 1
		                 when @b between 224 and 239 then 2
		                 when @b between 240 and 244 then 3 end;
		set @least = case @more when 0 then 1 when 1 then 128 when 2 then 2048
		                        else 65536 end;
		set @c = case @more when 0 then @b when 1 then @b - 192
		                    when 2 then @b - 224 else @b - 240 end;
		if @more is null or @i + @more > @end
			return convert(nvarchar(max), convert(varchar(max), @bytes, 1));
		while @more > 0
		begin
			set @i = @i + 1;
			set @more = @more - 1;
			set @b = convert(int, substring(@bytes, @i, 1));
			if @b not between 128 and 191
				return convert(nvarchar(max), convert(varchar(max), @bytes, 1));
			set @c = @c * 64 + @b - 128;
		end;
		if @c < @least or @c between 55296 and 57343 or @c > 1114111
			return convert(nvarchar(max), convert(varchar(max), @bytes, 1));
		-- nchar() returns null for a character above U+FFFF unless the
		-- database's collation supports such characters. If it returns null,
		-- join two surrogates.
		set @part = @part + isnull(nchar(@c), nchar(55232 + @c / 1024)
		                                      + nchar(56320 + @c % 1024));
		set @i = @i + 1;
		if datalength(@part) > 4000
		begin
			set @text = @text + @part;
			set @part = N'';
		end;
	end;
	return @text + @part;
end;
go
if object_id(N'readpast.state_word') is not null
	drop function [readpast].state_word;
go
-- state_word: return the word for a state's number.
-- @state: 1 to 6.
-- Result: the word.
-- Locks: none.

create function [readpast].state_word(@state int)
returns nvarchar(10)
as
begin
	return case @state when 1 then N'scheduled' when 2 then N'ready'
	                   when 3 then N'running' when 4 then N'done'
	                   when 5 then N'dead' when 6 then N'cancelled' end;
end;
go
if object_id(N'readpast.with_failure') is not null
	drop function [readpast].with_failure;
go
-- with_failure: add a failed attempt to a job's list of failures. The list has at most
-- ten elements. If it is full, the oldest element is removed.
-- @failures: the list so far, a JSON array, or null.
-- @attempt, @at, @worker, @error: the attempt. The worker and the error may be null.
-- Result: the new list.
-- Locks: none.

create function [readpast].with_failure(@failures nvarchar(max), @attempt int,
	@at datetime2(3), @worker nvarchar(255), @error nvarchar(4000))
returns nvarchar(max)
as
begin
	declare @one nvarchar(max), @list nvarchar(max) = isnull(@failures, N'[]');
	set @one = (select @attempt as attempt,
	                   datediff_big(millisecond, '1970-01-01', @at) as at,
	                   @worker as worker, @error as text
	               for json path, without_array_wrapper);
	-- Do not use stuff() here, because stuff() cannot remove more than 8,000 bytes
	-- from a text.
	if (select count(*) from openjson(@list)) >= 10
		set @list = N'[' + substring(@list, len(json_query(@list, N'$[0]')) + 3,
		                             datalength(@list));
	return left(@list, len(@list) - 1) + case when @list = N'[]' then N'' else N',' end
	       + @one + N']';
end;
go
if object_id(N'readpast.backoff_ms') is not null
	drop function [readpast].backoff_ms;
go
-- backoff_ms: return how long a job waits after an attempt failed. The time doubles
-- with each attempt, up to the queue's maximum.
-- @attempt: the number of the attempt that failed, from 1.
-- @backoff_ms, @backoff_max_ms: the queue's settings.
-- Result: milliseconds, without a random part.
-- Locks: none.

create function [readpast].backoff_ms(@attempt int, @backoff_ms bigint,
	@backoff_max_ms bigint)
returns bigint
as
begin
	declare @i int = 1;
	while @i < @attempt and @backoff_ms < @backoff_max_ms and @i < 25
	begin
		set @backoff_ms = @backoff_ms * 2;
		set @i = @i + 1;
	end;
	return case when @backoff_ms > @backoff_max_ms then @backoff_max_ms
	            else @backoff_ms end;
end;
go
if object_id(N'readpast.need_read_committed') is null
	exec sp_executesql N'create procedure [readpast].need_read_committed as return 0';
go
-- need_read_committed: raise an error if the transaction is doomed or is not at READ
-- COMMITTED. Claims and sweeps need READPAST, which SERIALIZABLE does not allow.
-- At SNAPSHOT a claim would not see the newest version of a row.
-- Errors: 52007 wrong isolation level, 52008 doomed transaction.
-- Locks: none.

alter procedure [readpast].need_read_committed
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if (select s.transaction_isolation_level from sys.dm_exec_sessions as s
     where s.session_id = @@spid) <> 2
	throw 52007, N'claims and sweeps work only at READ COMMITTED: SET TRANSACTION ISOLATION LEVEL READ COMMITTED before the transaction', 1;
go
if object_id(N'readpast.need_queue') is null
	exec sp_executesql N'create procedure [readpast].need_queue as return 0';
go
-- need_queue: return the id of a queue, or raise an error.
-- @queue: the name of the queue.
-- @queue_id: its id.
-- Errors: 52003 the name is null, 52005 no such queue, 52008 doomed transaction.
-- Locks: none.

alter procedure [readpast].need_queue @queue nvarchar(4000), @queue_id int output
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @queue is null
	throw 52003, N'the queue is null', 1;
set @queue_id = (select q.id from [readpast].queue as q where q.name = @queue);
if @queue_id is null
begin
	set @message = concat(N'there is no queue named ', left(@queue, 128),
		N': create it by queue_set or by its first job');
	throw 52005, @message, 1;
end;
go
if object_id(N'readpast.queue_create') is null
	exec sp_executesql N'create procedure [readpast].queue_create as return 0';
go
-- queue_create: create a queue with the default settings, unless it exists.
-- @queue: the name of the queue.
-- Errors: 52003 wrong name, 52008 doomed transaction.
-- Locks: no existing row. The call waits for an open transaction that creates or drops
-- the same queue.

alter procedure [readpast].queue_create @queue nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @queue_id int;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @queue is null or [readpast].is_bad_name(@queue, 128) = 1
	throw 52003, N'the queue''s name must have 1 to 128 characters, no control characters and no space at the end', 1;
begin transaction;
insert into [readpast].queue (name)
select @queue
 where not exists (select 1 from [readpast].queue as q with (updlock, holdlock)
                    where q.name = @queue);
if @@rowcount = 1
begin
	set @queue_id = (select q.id from [readpast].queue as q where q.name = @queue);
	insert into [readpast].queue_use (queue_id) values (@queue_id);
	exec [readpast].open_lane @queue_id, 100;
end;
commit transaction;
go
if object_id(N'readpast.open_lane') is null
	exec sp_executesql N'create procedure [readpast].open_lane as return 0';
go
-- open_lane: add the three lanes of a priority of a queue, one for each class, unless
-- they exist. (See the table `lane`.)
-- @queue_id, @priority: the queue and the priority.
-- Called in a transaction.
-- Locks: no existing row.

alter procedure [readpast].open_lane @queue_id int, @priority int
as
set nocount on;
set xact_abort on;
insert into [readpast].lane (queue_id, lane_id)
select @queue_id, cast(@queue_id as bigint) * 1024 + @priority * 4 + c.class
  from (select 0 as class union all select 1 union all select 2) as c
 where not exists (
           select 1 from [readpast].lane as l
            where l.queue_id = @queue_id
              and l.lane_id = cast(@queue_id as bigint) * 1024 + @priority * 4 + c.class);
go
if object_id(N'readpast.hold_queue') is null
	exec sp_executesql N'create procedure [readpast].hold_queue as return 0';
go
-- hold_queue: find a queue, or create it, and keep it from being dropped until the
-- transaction ends.
-- @queue: the name of the queue.
-- @queue_id, @max_payload: results.
-- @priority, @max_attempts: the values of the new job. Null is replaced by the queue's
-- setting.
-- Errors: 52003 wrong name, 52006 the queue was dropped after this transaction began,
-- 52008 doomed transaction.
-- Called in a transaction.
-- Locks: a shared lock on the queue's row in queue_use. The call waits for an open
-- transaction that creates or drops the queue.

alter procedure [readpast].hold_queue
	@queue nvarchar(4000), @queue_id int output, @priority int output,
	@max_attempts int output, @max_payload bigint output
as
set nocount on;
set xact_abort on;
declare @held int, @own_priority int, @own_attempts int, @tries int = 0;
while @held is null
begin
	set @queue_id = null;
	select @queue_id = q.id, @own_priority = q.priority,
	       @own_attempts = q.max_attempts, @max_payload = q.max_payload
	  from [readpast].queue as q
	 where q.name = @queue;
	if @queue_id is null
		exec [readpast].queue_create @queue;
	else
	begin
		select @held = u.queue_id
		  from [readpast].queue_use as u with (rowlock, repeatableread)
		 where u.queue_id = @queue_id;
		-- If @held is null, another session has dropped the queue after the
		-- first select, and both selects are repeated. The limit of three tries
		-- is for the isolation level SNAPSHOT, at which the first select would
		-- find the dropped queue forever.
		set @tries = @tries + 1;
		if @held is null and @tries = 3
			throw 52006, N'the queue was dropped after this transaction began: begin a new transaction', 1;
	end;
end;
set @priority = isnull(@priority, @own_priority);
set @max_attempts = isnull(@max_attempts, @own_attempts);
if @priority <> @own_priority
	exec [readpast].open_lane @queue_id, @priority;
go
if object_id(N'readpast.check_job') is null
	exec sp_executesql N'create procedure [readpast].check_job as return 0';
go
-- check_job: raise an error if an argument of an enqueue is wrong.
-- @queue .. @replace: the parameters of `enqueue`.
-- Errors: 52003, and 52008 if the transaction is doomed.
-- Locks: none.

alter procedure [readpast].check_job
	@queue nvarchar(4000), @has_text bit, @has_payload bit, @priority int,
	@delay_ms bigint, @run_at datetime2(3), @max_attempts int, @kind nvarchar(4000),
	@headers nvarchar(max), @unique_key nvarchar(4000), @replace bit
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
set @message = case
	when @queue is null or [readpast].is_bad_name(@queue, 128) = 1 then
		N'the queue''s name must have 1 to 128 characters, no control characters and no space at the end'
	when @has_text = @has_payload then
		N'give either text or payload, and the one that you give must not be null'
	when [readpast].is_bad_name(@kind, 128) = 1 then
		N'the kind must have 1 to 128 characters, no control characters and no space at the end'
	when [readpast].is_bad_name(@unique_key, 255) = 1 then
		N'the unique key must have 1 to 255 characters, no control characters and no space at the end'
	when @priority < 0 or @priority > 255 then
		N'the priority is not within 0..255'
	when @max_attempts < 1 or @max_attempts > 1000000000 then
		N'max_attempts is not within 1..1000000000'
	when @delay_ms < 0 or @delay_ms > 315360000000 then
		N'the delay is not within 0..3650 days'
	when @run_at < '1970-01-01' then
		N'run_at is before 1970'
	when @delay_ms is not null and @run_at is not null then
		N'give either delay_ms or run_at, not both'
	when @replace is null then
		N'replace is null'
	when @replace = 1 and @unique_key is null then
		N'replace needs a unique key'
	when @headers is not null and (isjson(@headers) = 0 or left(ltrim(@headers), 1) <> N'{') then
		N'the headers are not a JSON object'
end;
if @message is not null
	throw 52003, @message, 1;
go
if object_id(N'readpast.put_again') is null
	exec sp_executesql N'create procedure [readpast].put_again as return 0';
go
-- put_again: find the live job that has a unique key, and replace its content if
-- @replace is 1. The claim number of a replaced job becomes larger, so a worker whose
-- lease ran out cannot settle the new content.
-- If the job is ready or scheduled, it stays locked until the transaction ends. So no
-- worker runs the job before the caller has committed.
-- @lane, @seq, @due: the job's new lane, its new place in the lane, and its new run_at.
-- @replace: 1: replace the content.
-- @id, @outcome: results, see `enqueue`. @outcome is null if no live job has the key,
-- or if the job was claimed or has ended during this call.
-- Called in a transaction.
-- Locks: the job's row, unless it is running.

alter procedure [readpast].put_again
	@queue_id int, @unique_key nvarchar(4000), @lane bigint, @seq bigint,
	@due datetime2(3), @priority int, @max_attempts int, @kind nvarchar(4000),
	@headers nvarchar(max), @payload varbinary(max), @replace bit,
	@id bigint output, @outcome nvarchar(10) output
as
set nocount on;
set xact_abort on;
declare @lease_until datetime2(3), @message nvarchar(2048);
set @id = null;
select @id = j.id, @lease_until = j.lease_until
  from [readpast].job as j
 where j.queue_id = @queue_id and j.unique_key = @unique_key;
if @id is null
	return;
if @lease_until is null and @replace = 0
	select @outcome = N'existed'
	  from [readpast].job as j with (rowlock, updlock, readcommittedlock, index (job_id))
	 where j.id = @id;
if @lease_until is null and @replace = 1
begin
	update j
	   set lane_id = @lane,
	       -- A job that stays in its lane keeps its place.
	       seq = case when j.lane_id = @lane and @lane > 0 then j.seq else @seq end,
	       run_at = @due, priority = @priority, class = 2, claim_no = j.claim_no + 1,
	       worker_id = null, attempt = 0, lost = 0, max_attempts = @max_attempts,
	       last_error = null, failures = null, kind = @kind, headers = @headers,
	       payload = @payload
	  from [readpast].job as j with (rowlock, index (job_id))
	 where j.id = @id and j.lease_until is null;
	if @@rowcount = 1
		set @outcome = N'replaced';
end;
if @lease_until is not null and @replace = 0
	set @outcome = N'existed';
if @lease_until is not null and @replace = 1
begin
	set @message = concat(N'job ', @id, N' cannot be replaced: it is running');
	throw 52006, @message, 1;
end;
go
if object_id(N'readpast.put') is null
	exec sp_executesql N'create procedure [readpast].put as return 0';
go
-- put: insert a job, or find or replace the live job that has its unique key.
-- @queue_id .. @replace: the job. @priority and @max_attempts must not be null. The
-- caller gets them from hold_queue, which replaces null by the queue's setting.
-- @id, @outcome: results, see `enqueue`.
-- Called in a transaction.
-- Locks: the rows that `enqueue` locks, except the row of queue_use.

alter procedure [readpast].put
	@queue_id int, @payload varbinary(max), @priority int, @delay_ms bigint,
	@run_at datetime2(3), @max_attempts int, @kind nvarchar(4000),
	@headers nvarchar(max), @unique_key nvarchar(4000), @replace bit,
	@id bigint output, @outcome nvarchar(10) output
as
set nocount on;
-- This is the only procedure that switches XACT_ABORT off. With XACT_ABORT on, the
-- error about a duplicate key (see below) would doom the caller's transaction.
set xact_abort off;
declare @moment datetime2(7) = sysutcdatetime(), @now datetime2(3), @due datetime2(3),
        @lane bigint, @seq bigint;
set @now = @moment;
set @due = isnull(@run_at, dateadd(millisecond, @delay_ms % 1000, dateadd(second, @delay_ms / 1000, @now)));
if @due > @now
begin
	set @lane = -@queue_id;
	set @seq = datediff_big(microsecond, '1970-01-01', @due);
end
else
begin
	set @lane = cast(@queue_id as bigint) * 1024 + @priority * 4 + 2;
	set @seq = datediff_big(microsecond, '1970-01-01', @moment);
end;
if @due is null or @due < @now
	set @due = @now;
set @id = null;
set @outcome = null;
while @outcome is null
begin
begin try
	if @unique_key is not null
		exec [readpast].put_again @queue_id, @unique_key, @lane, @seq, @due, @priority,
			@max_attempts, @kind, @headers, @payload, @replace, @id output,
			@outcome output;
	if @outcome is null
	begin
		set @id = next value for [readpast].job_id;
		insert into [readpast].job
		       (lane_id, seq, id, queue_id, priority, max_attempts, run_at, created_at,
		        unique_key, kind, headers, payload)
		values (@lane, @seq, @id, @queue_id, @priority, @max_attempts, @due, @now,
		        @unique_key, @kind, @headers, @payload);
		set @outcome = N'added';
	end;
end try
begin catch
	set xact_abort on;
	-- Error 2601 or 2627: another session has added the key after put_again looked
	-- for it. So look again.
	if error_number() not in (2601, 2627) or @unique_key is null or xact_state() <> 1
		throw;
	set xact_abort off;
end catch;
end;
go
if object_id(N'readpast.enqueue') is null
	exec sp_executesql N'create procedure [readpast].enqueue as return 0';
go
-- enqueue: put a job into a queue. A queue that does not exist is created.
-- @text, @payload: the job's content. Give one of the two; a text is stored as UTF-8.
-- @priority, @max_attempts: null means the queue's setting.
-- @delay_ms, @run_at: when the job is ready. Null means now.
-- @headers: a JSON object.
-- @unique_key: if a live job of the queue has this key, no job is added.
-- @replace: 1: a live job with the key gets the new content. If that job is running,
-- error 52006 is raised.
-- @quiet: 1: return no row.
-- @id: the job's id.
-- Rows: one, with the job's id, and outcome: added, existed (another job has the key)
-- or replaced.
-- Errors: 52003 wrong argument, 52004 payload too large, 52006 the job to be replaced
-- is running, or the queue was dropped after this transaction began, 52008 doomed
-- transaction.
-- Locks: the row of a live job with the same key, and a shared lock on the queue's row
-- in queue_use. The call waits for an open transaction that creates the same queue,
-- drops it, inserts the same key, or has changed the live job with this key.

alter procedure [readpast].enqueue
	@queue nvarchar(4000), @text nvarchar(max) = null, @payload varbinary(max) = null,
	@priority int = null, @delay_ms bigint = null, @run_at datetime2(3) = null,
	@max_attempts int = null, @kind nvarchar(4000) = null,
	@headers nvarchar(max) = null, @unique_key nvarchar(4000) = null,
	@replace bit = 0, @quiet bit = 0, @id bigint = null output
as
set nocount on;
set xact_abort on;
declare @queue_id int, @outcome nvarchar(10), @max_payload bigint,
        @has_text bit = case when @text is null then 0 else 1 end,
        @has_payload bit = case when @payload is null then 0 else 1 end;
exec [readpast].check_job @queue, @has_text, @has_payload, @priority, @delay_ms, @run_at,
	@max_attempts, @kind, @headers, @unique_key, @replace;
if @has_text = 1
	set @payload = [readpast].utf8_of(@text);
begin transaction;
exec [readpast].hold_queue @queue, @queue_id output, @priority output,
	@max_attempts output, @max_payload output;
if datalength(@payload) > @max_payload
	throw 52004, N'the payload is larger than the queue''s max_payload', 1;
exec [readpast].put @queue_id, @payload, @priority, @delay_ms, @run_at, @max_attempts,
	@kind, @headers, @unique_key, @replace, @id output, @outcome output;
commit transaction;
if @quiet = 0
	select @id as id, @outcome as outcome;
go
if object_id(N'readpast.read_jobs') is null
	exec sp_executesql N'create procedure [readpast].read_jobs as return 0';
go
-- read_jobs: fill the table #job of enqueue_many from JSON, and check it.
-- @jobs: the parameter of enqueue_many.
-- Errors: 52003 wrong JSON or argument.
-- Locks: none.

alter procedure [readpast].read_jobs @jobs nvarchar(max)
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048), @number int;
if @jobs is null or isjson(@jobs) = 0 or left(ltrim(@jobs), 1) <> N'['
	throw 52003, N'the jobs are not a JSON array', 1;
insert into #job (number, id, payload, kind, headers, priority, delay_ms, max_attempts, bad)
select cast(a.[key] as int) + 1, next value for [readpast].job_id,
       case when v.text is null then try_convert(varbinary(max), cast(v.payload as varchar(max)), 2)
            else [readpast].utf8_of(v.text) end,
       left(v.kind, 129), v.headers, try_convert(int, v.priority),
       try_convert(bigint, v.delay_ms), try_convert(int, v.max_attempts),
       case when v.text is not null and v.payload is not null
              or v.priority is not null and try_convert(int, v.priority) is null
              or v.delay_ms is not null and try_convert(bigint, v.delay_ms) is null
              or v.max_attempts is not null and try_convert(int, v.max_attempts) is null
            then 1 end
  from openjson(@jobs) as a
 cross apply openjson(case when a.type = 5 then a.value else N'{}' end)
       with (text nvarchar(max) '$.text', payload nvarchar(max) '$.payload',
             kind nvarchar(max) '$.kind', headers nvarchar(max) '$.headers' as json,
             priority nvarchar(30) '$.priority', delay_ms nvarchar(30) '$.delay_ms',
             max_attempts nvarchar(30) '$.max_attempts') as v;
select top (1) @number = a.number, @message = case
	when a.payload is null or a.bad = 1 then
		N'give text, or payload in hexadecimal digits, and not both; priority, delay_ms and max_attempts must be numbers'
	when [readpast].is_bad_name(a.kind, 128) = 1 then
		N'the kind must have 1 to 128 characters, no control characters and no space at the end'
	when left(ltrim(a.headers), 1) <> N'{' then N'the headers are not a JSON object'
	when a.priority < 0 or a.priority > 255 then N'the priority is not within 0..255'
	when a.delay_ms < 0 or a.delay_ms > 315360000000 then
		N'the delay is not within 0..3650 days'
	else N'max_attempts is not within 1..1000000000'
	end
  from #job as a
 where a.payload is null or a.bad = 1 or [readpast].is_bad_name(a.kind, 128) = 1
    or left(ltrim(a.headers), 1) <> N'{' or a.priority < 0 or a.priority > 255
    or a.delay_ms < 0 or a.delay_ms > 315360000000
    or a.max_attempts < 1 or a.max_attempts > 1000000000
 order by a.number;
if @message is not null
begin
	set @message = concat(N'job ', @number, N': ', @message);
	throw 52003, @message, 1;
end;
go
if object_id(N'readpast.enqueue_many') is null
	exec sp_executesql N'create procedure [readpast].enqueue_many as return 0';
go
-- enqueue_many: put many jobs into a queue, in one statement and one commit.
-- @queue: the queue. It is created if it does not exist.
-- @jobs: a JSON array of objects with the members text or payload (hexadecimal digits),
-- kind, headers, priority, delay_ms and max_attempts. Each object must have either text
-- or payload. The other members may be left out.
-- (Jobs with a unique key go through `enqueue`, one at a time.)
-- Rows: number and id of each job, in the order of the array.
-- Errors: 52003 wrong JSON or argument, 52004 payload too large, 52006 the queue was
-- dropped after this transaction began, 52008 doomed transaction.
-- Locks: a shared lock on the queue's row in queue_use.

alter procedure [readpast].enqueue_many
	@queue nvarchar(4000), @jobs nvarchar(max), @quiet bit = 0
as
set nocount on;
set xact_abort on;
declare @queue_id int, @priority int, @max_attempts int, @max_payload bigint,
        @moment datetime2(7), @us bigint, @now datetime2(3);
exec [readpast].check_job @queue, 1, 0, null, null, null, null, null, null, null, 0;
create table #job (
	number int not null, id bigint not null, payload varbinary(max) null,
	kind nvarchar(4000) null, headers nvarchar(max) null, priority int null,
	delay_ms bigint null, max_attempts int null, bad int null, due datetime2(3) null);
exec [readpast].read_jobs @jobs;
begin transaction;
exec [readpast].hold_queue @queue, @queue_id output, @priority output,
	@max_attempts output, @max_payload output;
if exists (select 1 from #job as a where datalength(a.payload) > @max_payload)
	throw 52004, N'a payload is larger than the queue''s max_payload', 1;
insert into [readpast].lane (queue_id, lane_id)
select distinct @queue_id, cast(@queue_id as bigint) * 1024 + a.priority * 4 + c.class
  from #job as a
 cross join (select 0 as class union all select 1 union all select 2) as c
 where a.priority is not null and not exists (
           select 1 from [readpast].lane as l
            where l.queue_id = @queue_id
              and l.lane_id = cast(@queue_id as bigint) * 1024 + a.priority * 4 + c.class);
set @moment = sysutcdatetime();
set @now = @moment;
set @us = datediff_big(microsecond, '1970-01-01', @moment);
update a
   set due = dateadd(millisecond, isnull(a.delay_ms, 0) % 1000, dateadd(second, isnull(a.delay_ms, 0) / 1000, @now))
  from #job as a;
insert into [readpast].job
       (lane_id, seq, id, queue_id, priority, max_attempts, run_at, created_at, kind,
        headers, payload)
select case when a.due > @now then -@queue_id
            else cast(@queue_id as bigint) * 1024 + isnull(a.priority, @priority) * 4 + 2 end,
       case when a.due > @now then datediff_big(microsecond, '1970-01-01', a.due)
            else @us + a.number end,
       a.id, @queue_id, isnull(a.priority, @priority),
       isnull(a.max_attempts, @max_attempts), a.due, @now, a.kind, a.headers, a.payload
  from #job as a;
commit transaction;
if @quiet = 0
	select a.number, a.id from #job as a order by a.number;
go
if object_id(N'readpast.worker_named') is null
	exec sp_executesql N'create procedure [readpast].worker_named as return 0';
go
-- worker_named: register a client as a worker under a name that the client chooses.
-- Each claim is a heartbeat. It is written to the worker's row at most once in 5 s.
-- @worker: the name.
-- @queue: the queue that the worker claims from. A queue that does not exist is created
-- when the worker first claims from it.
-- @worker_id: the worker's id.
-- Errors: 52003 wrong name.
-- Locks: the worker's row, if the call updates it, until the transaction ends. If
-- another transaction has locked that row, the call does not update it.

alter procedure [readpast].worker_named
	@worker nvarchar(4000), @queue nvarchar(4000), @worker_id bigint output
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime(), @seen_at datetime2(3);
if @worker is null or [readpast].is_bad_name(@worker, 255) = 1
	throw 52003, N'the worker''s name must have 1 to 255 characters, no control characters and no space at the end', 1;
set @worker_id = null;
select @worker_id = w.id, @seen_at = w.seen_at
  from [readpast].worker as w
 where w.name = @worker;
if @worker_id is null
begin
	insert into [readpast].worker (name, started_at, seen_at)
	select @worker, @now, @now
	 where not exists (select 1 from [readpast].worker as w with (updlock, holdlock)
	                    where w.name = @worker);
	select @worker_id = w.id from [readpast].worker as w where w.name = @worker;
end;
if @seen_at < dateadd(second, -5, @now)
	update w
	   set seen_at = @now
	  from [readpast].worker as w with (rowlock, readpast, readcommittedlock)
	 where w.id = @worker_id;
if not exists (select 1 from [readpast].worker_queue as k
                where k.worker_id = @worker_id and k.queue = @queue)
begin
	exec [readpast].queue_create @queue;
	insert into [readpast].worker_queue (worker_id, queue)
	select @worker_id, @queue
	 where not exists (select 1 from [readpast].worker_queue as k with (updlock, holdlock)
	                    where k.worker_id = @worker_id and k.queue = @queue);
end;
go
if object_id(N'readpast.claim_start') is null
	exec sp_executesql N'create procedure [readpast].claim_start as return 0';
go
-- claim_start: check the arguments of a claim, register its worker, and find its queue.
-- @queue .. @holding: the parameters of `claim`.
-- @queue_id: the queue. Null: the queue is paused.
-- @worker_id: the worker. 0: the client has no name.
-- Errors: 52003, 52005, see `claim`.
-- Called in a transaction.
-- Locks: the rows that worker_named locks.

alter procedure [readpast].claim_start
	@queue nvarchar(4000), @n int, @lease_ms bigint output, @worker nvarchar(4000),
	@holding int, @queue_id int output, @worker_id bigint output
as
set nocount on;
set xact_abort on;
declare @paused_at datetime2(3), @message nvarchar(2048);
set @message = case
	when @queue is null then N'the queue is null'
	when @n is null or @n < 1 or @n > 100000 then N'n is not within 1..100000'
	when @holding is null or @holding < 0 then N'holding is null or less than 0'
	when @lease_ms < 1 or @lease_ms > 315360000000 then
		N'the lease is not within 1 ms..3650 days'
end;
if @message is not null
	throw 52003, @message, 1;
set @worker_id = 0;
if @worker is not null
	exec [readpast].worker_named @worker, @queue, @worker_id output;
set @queue_id = null;
select @queue_id = q.id, @paused_at = q.paused_at,
       @lease_ms = isnull(@lease_ms, q.lease_ms)
  from [readpast].queue as q
 where q.name = @queue;
if @queue_id is null
	exec [readpast].need_queue @queue, @queue_id output;
if @paused_at is not null
	set @queue_id = null;
go
if object_id(N'readpast.next_lane') is null
	exec sp_executesql N'create procedure [readpast].next_lane as return 0';
go
-- next_lane: find the next lane from which a claim may take jobs.
-- @queue_id: the queue. Null: the queue is paused, so no lane is found.
-- @n: the largest number of jobs that the claim may take.
-- @taken: how many jobs the claim has taken so far.
-- @holding: how many jobs the caller of the claim held before the claim.
-- @lane: the caller passes the lane that it has just read, or 0 for the first lane. The
-- procedure sets @lane to the next lane, or to null if the claim must end.
-- @start: the claim starts at this place of the lane (a value of seq).
-- @most: the largest number of jobs that the claim may take from this lane. A suspect
-- (a job that may have killed its worker) is taken alone, and only by a caller that
-- holds no job. If such a caller has taken other jobs before it comes to a suspect, the
-- claim ends there. So the next claim can take the suspect, and the suspect does not
-- wait for ever.
-- Locks: none. The procedure reads the table `lane` without waiting for locks, so it
-- may see a lane that is rolled back later. Such a lane has no jobs.

alter procedure [readpast].next_lane
	@queue_id int, @n int, @taken int, @holding int, @lane bigint output,
	@start bigint output, @most int output
as
set nocount on;
set xact_abort on;
declare @next bigint;
set @most = @n - @taken;
while @lane is not null and @most > 0
begin
	set @next = null;
	select top (1) @next = l.lane_id, @start = l.cursor_at
	  from [readpast].lane as l with (readuncommitted)
	 where l.queue_id = @queue_id and l.lane_id > @lane
	 order by l.lane_id, l.cursor_at;
	set @lane = @next;
	if @lane is null or @lane % 4 <> 1
		return;
	if @holding + @taken = 0
	begin
		set @most = 1;
		return;
	end;
	if @holding = 0 and exists (
		select 1 from [readpast].job as j with (rowlock, readpast, readcommittedlock)
		 where j.lane_id = @lane and j.seq >= @start and j.lease_until is null)
		set @lane = null;
end;
set @lane = null;
go
if object_id(N'readpast.claim') is null
	exec sp_executesql N'create procedure [readpast].claim as return 0';
go
-- claim: lease up to n jobs. The caller holds each job until its lease ends. To report
-- on a job, pass its id and claim_no to one of the procedures `complete`, `fail`,
-- `release`, `extend` and `settle`.
-- @queue: the name of the queue.
-- @n: claim at most this many jobs.
-- @lease_ms: the length of the leases. Null: the queue's setting.
-- @worker: a name under which the caller is registered as a worker, or null.
-- @holding: how many jobs the caller holds already.
-- Rows: the jobs, in the order of the queue. There are fewer than n rows if fewer jobs
-- are ready, and none if the queue is paused. A suspect (a job that may have killed its
-- worker) is the only row, and is given only to a caller that holds no other job.
-- Errors: 52003 wrong argument, 52005 no such queue, 52007 wrong isolation level, 52008
-- doomed transaction. If @worker is given, a queue that does not exist is created when
-- this worker first claims from it.
-- Locks: the rows of the jobs. Rows that other transactions have locked are skipped. The
-- claim uses only the clustered index, so it never waits for a call that finds and
-- locks a job through the index job_id. No job is claimed twice even without these
-- locks, because the update repeats the condition that the job is not running.

alter procedure [readpast].claim
	@queue nvarchar(4000), @n int = 1, @lease_ms bigint = null,
	@worker nvarchar(4000) = null, @holding int = 0
as
set nocount on;
set xact_abort on;
declare @queue_id int, @worker_id bigint, @lane bigint = 0, @start bigint, @most int,
        @taken int = 0, @took int, @us bigint, @now datetime2(7), @until datetime2(3);
declare @got table (lane_id bigint, seq bigint, id bigint, claim_no bigint,
	payload varbinary(max), kind nvarchar(128), headers nvarchar(max), priority int,
	attempt int, max_attempts int, lease_until datetime2(3), run_at datetime2(3),
	created_at datetime2(3), unique_key nvarchar(255), last_error nvarchar(4000),
	failures nvarchar(max));
exec [readpast].need_read_committed;
begin transaction;
exec [readpast].claim_start @queue, @n, @lease_ms output, @worker, @holding,
	@queue_id output, @worker_id output;
while @lane is not null
begin
	exec [readpast].next_lane @queue_id, @n, @taken, @holding, @lane output,
		@start output, @most output;
	if @lane is null
		break;
	set @now = sysutcdatetime();
	set @us = datediff_big(microsecond, '1970-01-01', @now);
	set @until = dateadd(millisecond, @lease_ms % 1000, dateadd(second, @lease_ms / 1000, @now));
	update [readpast].job with (rowlock, updlock, readcommittedlock)
	   set lease_until = @until, worker_id = @worker_id, attempt = job.attempt + 1,
	       claim_no = case when job.claim_no < @us then @us else job.claim_no + 1 end
	output inserted.lane_id, inserted.seq, inserted.id, inserted.claim_no,
	       inserted.payload, inserted.kind, inserted.headers, inserted.priority,
	       inserted.attempt, inserted.max_attempts, inserted.lease_until,
	       inserted.run_at, inserted.created_at, inserted.unique_key,
	       inserted.last_error, inserted.failures into @got
	  from (select top (@most) k.lane_id, k.seq, k.id
	          from [readpast].job as k with (rowlock, readpast, updlock, readcommittedlock)
	         where k.lane_id = @lane and k.seq >= @start and k.lease_until is null
	         order by k.lane_id, k.seq, k.id) as p
	 where job.lane_id = p.lane_id and job.seq = p.seq and job.id = p.id
	   and job.lease_until is null
	option (loop join, maxdop 1);
	set @took = @@rowcount;
	-- A suspect runs alone. So a claim that has taken a suspect takes no more jobs.
	set @taken = case when @lane % 4 = 1 and @took > 0 then @n else @taken + @took end;
end;
commit transaction;
select g.id, g.claim_no, g.payload, g.kind, g.headers, g.priority, g.attempt,
       g.max_attempts, g.lease_until, g.run_at, g.created_at, g.unique_key,
       g.last_error, g.failures
  from @got as g
 order by g.lane_id, g.seq, g.id;
go
if object_id(N'readpast.put_away') is null
	exec sp_executesql N'create procedure [readpast].put_away as return 0';
go
-- put_away: move jobs to the archive.
-- #leaving: the table of the caller: id, state (4 done, 5 dead, 6 cancelled), error and
-- failures. If error or failures is null, the job's own value is kept.
-- Called in a transaction that has locked the jobs.
-- Locks: only the jobs' rows.

alter procedure [readpast].put_away
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
insert into [readpast].archive
       (queue_id, state, finished_at, id, priority, claim_no, worker, attempt,
        max_attempts, run_at, created_at, unique_key, kind, headers, last_error,
        failures, payload)
select j.queue_id, l.state, @now, j.id, j.priority, j.claim_no, w.name, j.attempt,
       j.max_attempts, j.run_at, j.created_at, j.unique_key, j.kind, j.headers,
       isnull(l.error, j.last_error), isnull(l.failures, j.failures), j.payload
  from #leaving as l
 inner loop join [readpast].job as j with (rowlock, index (job_id)) on j.id = l.id
  left join [readpast].worker as w on w.id = j.worker_id;
delete j
  from #leaving as l
 inner loop join [readpast].job as j with (rowlock, index (job_id)) on j.id = l.id;
go
if object_id(N'readpast.read_verdicts') is null
	exec sp_executesql N'create procedure [readpast].read_verdicts as return 0';
go
-- read_verdicts: fill the table #verdict of `settle` from JSON, and check it.
-- @verdicts: the parameter of `settle`.
-- Errors: 52003 wrong JSON or argument.
-- Locks: none.

alter procedure [readpast].read_verdicts @verdicts nvarchar(max)
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048), @number int;
insert into #verdict (number, id, claim_no, verdict, delay_ms, error, class)
select cast(a.[key] as int) + 1, try_convert(bigint, v.id),
       try_convert(bigint, v.claim_no), left(v.verdict, 10),
       try_convert(bigint, v.delay_ms), left(v.error, 4000),
       case when v.delay_ms is not null and try_convert(bigint, v.delay_ms) is null
            then -1 end
  from openjson(@verdicts) as a
 cross apply openjson(case when a.type = 5 then a.value else N'{}' end)
       with (id nvarchar(30) '$.id', claim_no nvarchar(30) '$.claim_no',
             verdict nvarchar(max) '$.verdict', delay_ms nvarchar(30) '$.delay_ms',
             error nvarchar(max) '$.error') as v;
select top (1) @number = v.number, @message = case
	when v.id is null or v.claim_no is null then
		N'id and claim_no must be numbers'
	when v.verdict is null
	     or v.verdict not in (N'done', N'fail', N'dead', N'release', N'extend') then
		N'the verdict must be done, fail, dead, release or extend'
	when v.class = -1 or v.delay_ms < 0 or v.delay_ms > 315360000000 then
		N'delay_ms is not within 0..3650 days'
	when v.verdict = N'extend' and v.delay_ms < 1 then
		N'the lease is not within 1 ms..3650 days'
	else N'another verdict names the same job'
	end
  from #verdict as v
 where v.id is null or v.claim_no is null or v.verdict is null
    or v.verdict not in (N'done', N'fail', N'dead', N'release', N'extend')
    or v.class = -1 or v.delay_ms < 0 or v.delay_ms > 315360000000
    or v.verdict = N'extend' and v.delay_ms < 1
    or exists (select 1 from #verdict as o where o.id = v.id and o.number < v.number)
 order by v.number;
if @message is not null
begin
	set @message = concat(N'verdict ', @number, N': ', @message);
	throw 52003, @message, 1;
end;
go
if object_id(N'readpast.plan_verdicts') is null
	exec sp_executesql N'create procedure [readpast].plan_verdicts as return 0';
go
-- plan_verdicts: find out what each verdict of #verdict does to its job. The results
-- stay valid as long as the job has the same claim number, even if the settings of the
-- queue are changed. If the job does not have the claim number that the verdict names,
-- the column `state` of the verdict stays null.
-- Called by `settle`, in a transaction.
-- Locks: none. apply_verdicts compares the claim number again.

alter procedure [readpast].plan_verdicts
as
set nocount on;
set xact_abort on;
declare @moment datetime2(7) = sysutcdatetime(), @now datetime2(3), @us bigint;
set @now = @moment;
set @us = datediff_big(microsecond, '1970-01-01', @moment);
-- delay_ms of a failed job: if the verdict names none, it is the queue's backoff (see
-- backoff_ms), varied at random by up to a tenth.
update v
   set queue_id = q.id,
       keeps = case when q.keep_done_ms > 0 then 1 else 0 end,
       class = case when v.verdict = N'extend' then j.class
                    when v.verdict = N'fail' then 2
                    when j.class = 1 then 1
                    when v.delay_ms > 0 then 2 else 0 end,
       state = case when v.verdict = N'done' then 4
                    when v.verdict = N'extend' then 3
                    when v.verdict = N'dead' or v.verdict = N'fail'
                         and j.attempt >= j.max_attempts then 5
                    else 1 end,
       delay_ms = case when v.delay_ms is not null then v.delay_ms
                       when v.verdict = N'extend' then q.lease_ms
                       when v.verdict = N'fail' then
                            [readpast].backoff_ms(j.attempt, q.backoff_ms, q.backoff_max_ms)
                            * (900 + abs(cast(checksum(newid()) as bigint)) % 201) / 1000
                       else 0 end,
       lane_id = cast(q.id as bigint) * 1024 + j.priority * 4,
       error = case when v.verdict in (N'fail', N'dead') then isnull(v.error, N'failed') end,
       failures = case when v.verdict in (N'fail', N'dead') then
                       [readpast].with_failure(j.failures, j.attempt, @now,
                           (select w.name from [readpast].worker as w
                             where w.id = j.worker_id), isnull(v.error, N'failed')) end
  from #verdict as v, [readpast].job as j with (index (job_id)), [readpast].queue as q
 where j.id = v.id and j.claim_no = v.claim_no and j.worker_id is not null
   and q.id = j.queue_id;
update v
   set run_at = dateadd(millisecond, v.delay_ms % 1000, dateadd(second, v.delay_ms / 1000, @now))
  from #verdict as v
 where v.state in (1, 3);
update v
   set state = case when v.state = 1 and v.delay_ms = 0 then 2 else v.state end,
       lane_id = case when v.state = 1 and v.delay_ms = 0 then v.lane_id + v.class
                      else -v.queue_id end,
       seq = case when v.state = 1 and v.delay_ms = 0 then @us + v.number
                  else datediff_big(microsecond, '1970-01-01', v.run_at) end
  from #verdict as v
 where v.state in (1, 3);
go
if object_id(N'readpast.apply_verdicts') is null
	exec sp_executesql N'create procedure [readpast].apply_verdicts as return 0';
go
-- apply_verdicts: change the jobs as plan_verdicts has planned. Each statement compares
-- the claim number again, so a job that has changed since plan_verdicts read it is not
-- changed again.
-- The updates with `output into` are written for Babelfish. They name the table `job`
-- itself, because Babelfish 4 cannot run such an update of an alias a second time. FROM
-- does not contain `job`, because Babelfish would then check the condition on old
-- versions of the rows.
-- Called by `settle`, in a transaction.
-- Locks: the jobs' rows.

alter procedure [readpast].apply_verdicts
as
set nocount on;
set xact_abort on;
create table #leaving (id bigint not null, state int null, error nvarchar(4000) null,
	failures nvarchar(max) null);
create table #settled (id bigint not null);
delete j
output deleted.id into #settled
  from #verdict as v
 inner loop join [readpast].job as j with (rowlock, index (job_id)) on j.id = v.id
 where v.state = 4 and v.keeps = 0 and j.claim_no = v.claim_no
   and j.worker_id is not null;
if exists (select 1 from #verdict as v
            where v.state = 5 or v.state = 4 and v.keeps = 1)
begin
	-- This update locks the rows that still have the claim number, because
	-- put_away needs them locked.
	update [readpast].job with (rowlock)
	   set renewed = 0
	output inserted.id into #leaving (id)
	  from #verdict as v
	 where (v.state = 5 or v.state = 4 and v.keeps = 1) and job.id = v.id
	   and job.claim_no = v.claim_no and job.worker_id is not null;
	update l
	   set state = v.state, error = v.error, failures = v.failures
	  from #leaving as l, #verdict as v
	 where v.id = l.id;
	exec [readpast].put_away;
	insert into #settled (id) select l.id from #leaving as l;
end;
if exists (select 1 from #verdict as v where v.state <= 3)
	update [readpast].job with (rowlock)
	   set lane_id = v.lane_id, seq = v.seq, class = v.class, run_at = v.run_at,
	       lease_until = case when v.state = 3 then v.run_at end,
	       claim_no = job.claim_no + case when v.state = 3 then 0 else 1 end,
	       worker_id = case when v.state = 3 then job.worker_id end,
	       attempt = job.attempt - case when v.verdict = N'release' and job.attempt > 0
	                                    then 1 else 0 end,
	       renewed = case when v.state = 3 then job.renewed + 1 else 0 end,
	       lost = case when v.verdict = N'fail' then 0 else job.lost end,
	       last_error = isnull(v.error, job.last_error),
	       failures = isnull(v.failures, job.failures)
	output inserted.id into #settled
	  from #verdict as v
	 where v.state <= 3 and job.id = v.id and job.claim_no = v.claim_no
	   and job.worker_id is not null;
update v set result = N'ok'
  from #verdict as v, #settled as s
 where s.id = v.id;
go
if object_id(N'readpast.refuse_verdicts') is null
	exec sp_executesql N'create procedure [readpast].refuse_verdicts as return 0';
go
-- refuse_verdicts: write into #verdict why verdicts were refused.
-- Called by `settle`, in a transaction.
-- Locks: none.

alter procedure [readpast].refuse_verdicts
as
set nocount on;
set xact_abort on;
declare @drawn bigint;
if not exists (select 1 from #verdict as v where v.result is null)
	return;
-- The sequence has given each job its id. So no job has ever had its next number,
-- @drawn, or a larger one.
set @drawn = next value for [readpast].job_id;
update v
   set result = case when v.id >= @drawn or v.id < 1 then N'unknown' else N'gone' end,
       state = null
  from #verdict as v
 where v.result is null;
update v
   set result = N'cancelled'
  from #verdict as v, [readpast].archive as a
 where v.result = N'gone' and a.id = v.id and a.state = 6 and a.claim_no = v.claim_no;
go
if object_id(N'readpast.settle') is null
	exec sp_executesql N'create procedure [readpast].settle as return 0';
go
-- settle: apply verdicts. Each verdict names a job and the claim number that the claim
-- returned. If a later claim has taken the job, the job has another claim number, and
-- the verdict changes nothing. No clock is compared.
-- @verdicts: a JSON array of objects with the members id, claim_no, verdict (done, fail,
-- dead, release or extend), delay_ms and error (the text of a failure). delay_ms is how
-- long a failed or released job waits, or the length of the new lease. If delay_ms is
-- null, a failed job waits for the queue's backoff, a new lease has the length that is
-- set for the queue, and a released job does not wait.
-- @quiet: 1: return no rows.
-- @result, @state: the answer to the last verdict.
-- Rows: one for each verdict: number, id, claim_no, result (ok; gone: this claim no
-- longer has the job; cancelled; unknown: no job ever had the id), and the job's new
-- state.
-- Errors: 52003 wrong JSON or argument, 52008 doomed transaction.
-- Locks: the jobs' rows. The call waits for transactions that have locked them.

alter procedure [readpast].settle
	@verdicts nvarchar(max), @quiet bit = 0, @result nvarchar(10) = null output,
	@state nvarchar(10) = null output
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @verdicts is null or isjson(@verdicts) = 0 or left(ltrim(@verdicts), 1) <> N'['
	throw 52003, N'the verdicts are not a JSON array', 1;
create table #verdict (
	number int not null, id bigint null, claim_no bigint null,
	verdict nvarchar(10) collate Latin1_General_BIN2 null, delay_ms bigint null,
	error nvarchar(4000) null, queue_id int null, lane_id bigint null,
	seq bigint null, class int null, run_at datetime2(3) null,
	failures nvarchar(max) null, keeps int null, state int null,
	result nvarchar(10) null);
exec [readpast].read_verdicts @verdicts;
begin transaction;
exec [readpast].plan_verdicts;
exec [readpast].apply_verdicts;
exec [readpast].refuse_verdicts;
commit transaction;
select top (1) @result = v.result, @state = [readpast].state_word(v.state)
  from #verdict as v
 order by v.number desc;
if @quiet = 0
	select v.number, v.id, v.claim_no, v.result,
	       case when v.result = N'ok' then [readpast].state_word(v.state) end as state
	  from #verdict as v
	 order by v.number;
go
if object_id(N'readpast.settle_one') is null
	exec sp_executesql N'create procedure [readpast].settle_one as return 0';
go
-- settle_one: settle one job, or raise an error that says why the verdict was refused.
-- @id, @claim_no, @verdict, @delay_ms, @error: the members of a verdict, see `settle`.
-- @state: the job's new state.
-- Rows: one, with the state.
-- Errors: 52001 this claim no longer has the job, 52002 the job was cancelled, 52003
-- wrong argument, 52005 no such job, 52008 doomed transaction.
-- Locks: the rows that `settle` locks.

alter procedure [readpast].settle_one
	@id bigint, @claim_no bigint, @verdict nvarchar(10), @delay_ms bigint,
	@error nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @verdicts nvarchar(max), @result nvarchar(10), @state nvarchar(10),
        @message nvarchar(2048);
set @verdicts = (select @id as id, @claim_no as claim_no, @verdict as verdict,
                        @delay_ms as delay_ms, @error as error
                    for json path);
exec [readpast].settle @verdicts, 1, @result output, @state output;
set @message = concat(N'job ', @id, case @result
	when N'gone' then N' is no longer yours'
	when N'cancelled' then N' was cancelled'
	else N' never existed' end);
if @result = N'gone'
	throw 52001, @message, 1;
if @result = N'cancelled'
	throw 52002, @message, 1;
if @result = N'unknown'
	throw 52005, @message, 1;
select @state as state;
go
if object_id(N'readpast.complete') is null
	exec sp_executesql N'create procedure [readpast].complete as return 0';
go
-- complete: settle a job that is done.
-- @id, @claim_no: the values that `claim` returned.
-- Rows: one, with the job's state: done.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].complete @id bigint, @claim_no bigint
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
-- Most jobs are not kept. To complete such a job, one statement is enough.
delete j
  from [readpast].job as j with (rowlock, index (job_id))
 where j.id = @id and j.claim_no = @claim_no and j.worker_id is not null
   and exists (select 1 from [readpast].queue as q
                where q.id = j.queue_id and q.keep_done_ms = 0);
if @@rowcount = 0
	exec [readpast].settle_one @id, @claim_no, N'done', null, null;
else
	select N'done' as state;
go
if object_id(N'readpast.fail') is null
	exec sp_executesql N'create procedure [readpast].fail as return 0';
go
-- fail: end an attempt that failed. If the job's attempts are used up, or if @for_good
-- is 1, the job is dead. Otherwise it is tried again later.
-- @id, @claim_no: the values that `claim` returned.
-- @error: the error text, which is recorded with the job. It is cut after 4,000
-- characters.
-- @delay_ms: how long the job waits. Null: the queue's backoff.
-- Rows: one, with the job's state: scheduled, ready or dead.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].fail
	@id bigint, @claim_no bigint, @error nvarchar(max) = N'failed',
	@delay_ms bigint = null, @for_good bit = 0
as
set nocount on;
set xact_abort on;
declare @verdict nvarchar(10) = case when @for_good = 1 then N'dead' else N'fail' end,
        @cut nvarchar(4000) = left(@error, 4000);
exec [readpast].settle_one @id, @claim_no, @verdict, @delay_ms, @cut;
go
if object_id(N'readpast.release') is null
	exec sp_executesql N'create procedure [readpast].release as return 0';
go
-- release: give a claimed job back. The attempt is not counted.
-- @id, @claim_no: the values that `claim` returned.
-- @delay_ms: how long the job waits before it is ready.
-- Rows: one, with the job's state: ready or scheduled.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].release
	@id bigint, @claim_no bigint, @delay_ms bigint = 0
as
set nocount on;
set xact_abort on;
exec [readpast].settle_one @id, @claim_no, N'release', @delay_ms, null;
go
if object_id(N'readpast.extend') is null
	exec sp_executesql N'create procedure [readpast].extend as return 0';
go
-- extend: give a job a new lease, which starts now.
-- @id, @claim_no: the values that `claim` returned.
-- @lease_ms: the length of the new lease. Null: the queue's setting, even if the claim
-- had another lease.
-- Rows: one, with the job's state: running.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].extend
	@id bigint, @claim_no bigint, @lease_ms bigint = null
as
set nocount on;
set xact_abort on;
exec [readpast].settle_one @id, @claim_no, N'extend', @lease_ms, null;
go
if object_id(N'readpast.settle_and_claim') is null
	exec sp_executesql N'create procedure [readpast].settle_and_claim as return 0';
go
-- settle_and_claim: settle jobs, then claim other jobs, in one commit.
-- @verdicts: the parameter of `settle`, or null.
-- @queue .. @holding: the parameters of `claim`. @holding does not count the jobs that
-- this call settles.
-- Rows: first the rows of `settle`, one for each verdict, then the rows of `claim`.
-- Errors: the errors of `settle` and `claim`. After an error, nothing is settled.
-- Locks: the locks of `settle` and `claim`.

alter procedure [readpast].settle_and_claim
	@verdicts nvarchar(max), @queue nvarchar(4000), @n int = 1,
	@lease_ms bigint = null, @worker nvarchar(4000) = null, @holding int = 0
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @verdicts is null
	set @verdicts = N'[]';
begin transaction;
exec [readpast].settle @verdicts;
exec [readpast].claim @queue, @n, @lease_ms, @worker, @holding;
commit transaction;
go
if object_id(N'readpast.refuse_change') is null
	exec sp_executesql N'create procedure [readpast].refuse_change as return 0';
go
-- refuse_change: raise the error that says why a job cannot be cancelled or retried.
-- @id, @kind: the parameters of `cancel` and `retry`.
-- Errors: 52001 the job's state does not allow it, 52005 there is no such job, or it is
-- of another kind.
-- Locks: none.

alter procedure [readpast].refuse_change @id bigint, @kind nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @state int, @own nvarchar(128), @message nvarchar(2048);
select @state = case when j.lease_until is not null then 3
                     when j.lane_id > 0 then 2 else 1 end, @own = j.kind
  from [readpast].job as j
 where j.id = @id;
select @state = a.state, @own = a.kind from [readpast].archive as a where a.id = @id;
set @message = case
	when @state is null then concat(N'no job has the id ', @id)
	when @kind is not null and (@own is null or @own <> @kind) then
		concat(N'job ', @id, N' is of kind ', isnull(@own, N'(none)'))
	else concat(N'job ', @id, N' is ', [readpast].state_word(@state)) end;
if @state is null or @kind is not null and (@own is null or @own <> @kind)
	throw 52005, @message, 1;
throw 52001, @message, 1;
go
if object_id(N'readpast.cancel') is null
	exec sp_executesql N'create procedure [readpast].cancel as return 0';
go
-- cancel: cancel a live job. The job moves to the archive at once, and its unique
-- key is free. If a worker holds the job, the worker's next extend or verdict on it
-- is refused.
-- @id: the job.
-- @kind: if not null, only a job of this kind is cancelled.
-- Errors: 52001 the job has ended, 52005 no such job, 52008 doomed transaction.
-- Locks: the job's row. The call waits for a transaction that settles the job.

alter procedure [readpast].cancel @id bigint, @kind nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
create table #leaving (id bigint not null, state int null, error nvarchar(4000) null,
	failures nvarchar(max) null);
begin transaction;
-- This update only locks the row, because put_away needs it locked.
update j
   set renewed = 0
  from [readpast].job as j with (rowlock, index (job_id))
 where j.id = @id and (@kind is null or j.kind = @kind);
if @@rowcount = 0
	exec [readpast].refuse_change @id, @kind;
insert into #leaving (id, state) values (@id, 6);
exec [readpast].put_away;
commit transaction;
go
if object_id(N'readpast.retry') is null
	exec sp_executesql N'create procedure [readpast].retry as return 0';
go
-- retry: make a dead or cancelled job ready again, with the same id, no attempts used,
-- and a larger claim number.
-- @id: the job.
-- @kind: if not null, only a job of this kind is retried.
-- Errors: 52001 the job is in another state, 52005 no such job, 52006 a live job has the
-- same unique key, 52008 doomed transaction.
-- Locks: the job's row in the archive. The call waits for an open transaction that
-- inserts the same unique key.

alter procedure [readpast].retry @id bigint, @kind nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
declare @queue_id int, @priority int, @moment datetime2(7) = sysutcdatetime(),
        @now datetime2(3), @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
set @now = @moment;
begin transaction;
select @queue_id = a.queue_id, @priority = a.priority
  from [readpast].archive as a with (rowlock, updlock)
 where a.id = @id and a.state in (5, 6) and (@kind is null or a.kind = @kind);
if @queue_id is null
	exec [readpast].refuse_change @id, @kind;
exec [readpast].open_lane @queue_id, @priority;
insert into [readpast].job
       (lane_id, seq, id, queue_id, priority, claim_no, max_attempts, run_at, created_at,
        unique_key, kind, headers, last_error, failures, payload)
select cast(a.queue_id as bigint) * 1024 + a.priority * 4 + 2,
       datediff_big(microsecond, '1970-01-01', @moment), a.id, a.queue_id, a.priority,
       a.claim_no + 1, a.max_attempts, @now, a.created_at, a.unique_key, a.kind,
       a.headers, a.last_error, a.failures, a.payload
  from [readpast].archive as a
 where a.id = @id and a.state in (5, 6)
   and (a.unique_key is null or not exists (
           select 1 from [readpast].job as j with (updlock, holdlock)
            where j.queue_id = a.queue_id and j.unique_key = a.unique_key));
if @@rowcount = 0
begin
	set @message = concat(N'job ', @id, N' was not retried: a live job has its unique key');
	throw 52006, @message, 1;
end;
delete a from [readpast].archive as a with (rowlock) where a.id = @id;
commit transaction;
go
if object_id(N'readpast.purge') is null
	exec sp_executesql N'create procedure [readpast].purge as return 0';
go
-- purge: delete kept jobs.
-- @queue: the queue.
-- @state: done, dead or cancelled. Null: all three.
-- @kind: if not null, only jobs of this kind.
-- @most: delete at most this many jobs, the oldest of each state first.
-- Rows: one: purged, the number of jobs that were deleted.
-- Errors: 52003 wrong argument, 52005 no such queue, 52007 wrong isolation level, 52008
-- doomed transaction.
-- Locks: the rows that it deletes. Rows that other transactions have locked are
-- skipped. If the caller has no open transaction, the call commits after each slice of
-- up to 1,000 rows.

alter procedure [readpast].purge
	@queue nvarchar(4000), @state nvarchar(10) = null, @kind nvarchar(4000) = null,
	@most bigint = 1000000
as
set nocount on;
set xact_abort on;
declare @queue_id int, @purged bigint = 0, @n int = 4, @slice int, @rows int;
exec [readpast].need_read_committed;
exec [readpast].need_queue @queue, @queue_id output;
if @state is not null and @state collate Latin1_General_BIN2 not in (N'done', N'dead', N'cancelled')
   or @most is null or @most < 0
	throw 52003, N'the state must be done, dead or cancelled, and @most must be at least 0', 1;
while @n <= 6
begin
	set @slice = case when @most - @purged < 1000 then @most - @purged else 1000 end;
	set @rows = 0;
	if @slice > 0 and (@state is null or [readpast].state_word(@n) = @state)
	begin
		delete a
		  from (select top (@slice) k.id
		          from [readpast].archive as k with (rowlock, readpast, updlock, readcommittedlock)
		         where k.queue_id = @queue_id and k.state = @n
		           and (@kind is null or k.kind = @kind)
		         order by k.finished_at) as p
		 inner join [readpast].archive as a with (rowlock) on a.id = p.id
		 where a.queue_id = @queue_id and a.state = @n;
		set @rows = @@rowcount;
	end;
	set @purged = @purged + @rows;
	if @rows = 0
		set @n = @n + 1;
end;
select @purged as purged;
go
if object_id(N'readpast.sweep_line') is null
	exec sp_executesql N'create procedure [readpast].sweep_line as return 0';
go
-- sweep_line: take running jobs out of the ready line if their claim is older than a
-- second or their lease is over. Then claims need not read these jobs, and sweep_leases
-- finds them in the order in which their leases end, without an index of its own.
-- The procedure reads two parts of each lane: the jobs before the cursor (the place at
-- which claims start), and the first 1,000 jobs from the cursor on. Claims take jobs in
-- the order of the lane, so nearly all running jobs are in these parts. If a large
-- transaction committed late, some running jobs may be farther from the cursor. A later
-- sweep finds these, after the ready jobs before them have been claimed.
-- @most: move at most this many jobs.
-- Called by `sweep`, in a transaction.
-- Locks: the jobs' rows. Locked rows are skipped.

alter procedure [readpast].sweep_line @most int
as
set nocount on;
set xact_abort on;
declare @now datetime2(7) = sysutcdatetime(), @old bigint;
set @old = datediff_big(microsecond, '1970-01-01', @now) - 1000000;
update j
   set lane_id = -j.queue_id,
       seq = datediff_big(microsecond, '1970-01-01', j.lease_until)
  from (select top (@most) r.id
          from (select k.id, k.claim_no, k.lease_until
                  from [readpast].lane as l
                 inner join [readpast].job as k with (rowlock, readpast, readcommittedlock)
                    on k.lane_id = l.lane_id and k.seq < l.cursor_at
                union
                select f.id, f.claim_no, f.lease_until
                  from [readpast].lane as l
                 cross apply (select top (1000) k.id, k.claim_no, k.lease_until
                                from [readpast].job as k with (rowlock, readpast, readcommittedlock)
                               where k.lane_id = l.lane_id and k.seq >= l.cursor_at
                               order by k.seq, k.id) as f) as r
         where r.lease_until is not null
           and (r.claim_no < @old or r.lease_until <= @now)) as p
 inner loop join [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
    on j.id = p.id
 where j.lane_id > 0 and j.lease_until is not null
option (maxdop 1);
go
if object_id(N'readpast.sweep_leases') is null
	exec sp_executesql N'create procedure [readpast].sweep_leases as return 0';
go
-- sweep_leases: end the attempts of jobs whose leases ran out. A job that has used up
-- its attempts is dead. Any other job is ready again, before the other jobs of its
-- priority. If the job's lease ran out twice in a row, or if its next attempt is the
-- last one, the job becomes a suspect, which a worker runs alone. The claim number does
-- not change, so a late verdict is accepted until the job is claimed again.
-- @most: change at most this many jobs.
-- @recovered, @dead: how many jobs are ready again, and how many are dead.
-- Called by `sweep`, in a transaction.
-- Locks: the jobs' rows. Locked rows are skipped.

alter procedure [readpast].sweep_leases
	@most int, @recovered int output, @dead int output
as
set nocount on;
set xact_abort on;
declare @moment datetime2(7) = sysutcdatetime(), @now datetime2(3), @us bigint;
set @now = dateadd(millisecond, -1, @moment);
set @us = datediff_big(microsecond, '1970-01-01', @moment);
create table #over (number bigint not null, id bigint not null, claim_no bigint not null,
	dies int not null, class int not null, error nvarchar(4000) null,
	failures nvarchar(max) null);
create table #leaving (id bigint not null, state int null, error nvarchar(4000) null,
	failures nvarchar(max) null);
insert into #over (number, id, claim_no, dies, class, error, failures)
select row_number() over (order by k.seq, k.id), k.id, k.claim_no,
       case when k.attempt >= k.max_attempts then 1 else 0 end,
       case when k.lost > 0 or k.attempt + 1 >= k.max_attempts then 1 else 0 end,
       concat(N'lease ran out, attempt ', k.attempt, N' of ', k.max_attempts),
       [readpast].with_failure(k.failures, k.attempt, @now, w.name,
           concat(N'lease ran out, attempt ', k.attempt, N' of ', k.max_attempts))
  from (select top (@most) i.seq, i.id, i.claim_no, i.attempt, i.max_attempts, i.lost,
               i.failures, i.worker_id
          from [readpast].queue as q
         inner join [readpast].job as i with (rowlock, readpast, readcommittedlock)
            on i.lane_id = 0 - q.id and i.seq <= @us
         where i.lease_until <= @now
         order by i.seq, i.id) as k
  left join [readpast].worker as w on w.id = k.worker_id;
update j
   set lane_id = cast(j.queue_id as bigint) * 1024 + j.priority * 4 + o.class,
       seq = @us + o.number, class = o.class, run_at = @now, lease_until = null,
       renewed = 0, lost = j.lost + 1, last_error = o.error, failures = o.failures
  from #over as o, [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
 where o.dies = 0 and j.id = o.id and j.claim_no = o.claim_no and j.lease_until <= @now;
set @recovered = @@rowcount;
update [readpast].job with (rowlock, readpast, updlock, readcommittedlock)
   set renewed = 0
output inserted.id into #leaving (id)
  from #over as o
 where o.dies = 1 and job.id = o.id and job.claim_no = o.claim_no and job.lease_until <= @now;
set @dead = @@rowcount;
if @dead = 0
	return;
update l
   set state = 5, error = o.error, failures = o.failures
  from #leaving as l, #over as o
 where o.id = l.id;
exec [readpast].put_away;
go
if object_id(N'readpast.sweep_due') is null
	exec sp_executesql N'create procedure [readpast].sweep_due as return 0';
go
-- sweep_due: make ready the scheduled jobs whose time has come, in the order of their
-- times.
-- @most: change at most this many jobs.
-- @due: how many jobs this call has made ready.
-- Called by `sweep`, in a transaction.
-- Locks: the jobs' rows. Locked rows are skipped.

alter procedure [readpast].sweep_due @most int, @due int output
as
set nocount on;
set xact_abort on;
declare @us bigint = datediff_big(microsecond, '1970-01-01', sysutcdatetime());
create table #due (number bigint not null, id bigint not null);
insert into #due (number, id)
select row_number() over (order by k.seq, k.id), k.id
  from (select top (@most) i.seq, i.id
          from [readpast].queue as q
         inner join [readpast].job as i with (rowlock, readpast, readcommittedlock)
            on i.lane_id = 0 - q.id and i.seq <= @us
         where i.lease_until is null
         order by i.seq, i.id) as k;
update j
   set lane_id = cast(j.queue_id as bigint) * 1024 + j.priority * 4 + j.class,
       seq = @us + d.number
  from #due as d, [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
 where j.id = d.id and j.lane_id < 0 and j.seq <= @us and j.lease_until is null;
set @due = @@rowcount;
go
if object_id(N'readpast.sweep_kept') is null
	exec sp_executesql N'create procedure [readpast].sweep_kept as return 0';
go
-- sweep_kept: delete kept jobs whose retention time is over, and workers that were not
-- seen for an hour. (In this hour people can look up which worker had a job.)
-- @most: delete at most this many jobs.
-- @dropped: a result: how many jobs were deleted.
-- Called by `sweep`, in a transaction.
-- Locks: the rows that it deletes. Locked rows are skipped.

alter procedure [readpast].sweep_kept @most int, @dropped int output
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
delete a
  from (select top (@most) k.id
          from (select q.id, 4 as state, q.keep_done_ms as keep_ms from [readpast].queue as q
                union all
                select q.id, 5, q.keep_dead_ms from [readpast].queue as q
                union all
                select q.id, 6, q.keep_dead_ms from [readpast].queue as q) as s
         inner join [readpast].archive as k with (rowlock, readpast, updlock, readcommittedlock)
            on k.queue_id = s.id and k.state = s.state
           and k.finished_at <= dateadd(millisecond, -(s.keep_ms % 1000), dateadd(second, -(s.keep_ms / 1000), @now))) as p
 inner loop join [readpast].archive as a with (rowlock, readpast, updlock, readcommittedlock)
    on a.id = p.id;
set @dropped = @@rowcount;
delete w
  from [readpast].worker as w with (rowlock, readpast, readcommittedlock)
 where w.seen_at < dateadd(hour, -1, @now);
delete k
  from [readpast].worker_queue as k with (rowlock, readpast, readcommittedlock)
 where not exists (select 1 from [readpast].worker as w where w.id = k.worker_id);
go
if object_id(N'readpast.sweep_dropped') is null
	exec sp_executesql N'create procedure [readpast].sweep_dropped as return 0';
go
-- sweep_dropped: delete the jobs of dropped queues.
-- @most: delete at most this many jobs from each of the tables `job` and `archive`.
-- Called by `sweep`, in a transaction.
-- Locks: the rows that it deletes. Locked rows are skipped.

alter procedure [readpast].sweep_dropped @most int
as
set nocount on;
set xact_abort on;
if not exists (select 1 from [readpast].dropped as d)
	return;
delete j
  from (select top (@most) k.id
          from [readpast].dropped as d
         inner join [readpast].job as k with (rowlock, readpast, readcommittedlock)
            on k.lane_id = 0 - d.queue_id
            or k.lane_id between cast(d.queue_id as bigint) * 1024
                             and cast(d.queue_id as bigint) * 1024 + 1023) as p
 inner loop join [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
    on j.id = p.id;
delete a
  from (select top (@most) k.id
          from [readpast].dropped as d
         inner join [readpast].archive as k with (rowlock, readpast, readcommittedlock)
            on k.queue_id = d.queue_id) as p
 inner loop join [readpast].archive as a with (rowlock, readpast, updlock, readcommittedlock)
    on a.id = p.id;
delete d
  from [readpast].dropped as d
 where not exists (select 1 from [readpast].archive as a with (readuncommitted)
                    where a.queue_id = d.queue_id)
   and not exists (select 1 from [readpast].job as j with (readuncommitted)
                    where j.lane_id = 0 - d.queue_id
                       or j.lane_id between cast(d.queue_id as bigint) * 1024
                                        and cast(d.queue_id as bigint) * 1024 + 1023);
go
if object_id(N'readpast.sweep_cursors') is null
	exec sp_executesql N'create procedure [readpast].sweep_cursors as return 0';
go
-- sweep_cursors: delete duplicate rows of the table `lane`. Then move the cursor of
-- each lane (the place at which claims start) to the first ready job of the lane. The
-- search begins at the start of the lane, so it also finds jobs before the cursor that
-- were committed late. If a lane has no ready job, its cursor is set to the time one
-- second ago (the places of a lane are times, in microseconds). This is done only if the
-- cursor is more than a minute old.
-- Called by `sweep`, in a transaction.
-- Locks: the rows of `lane` that change. Locked rows are skipped.

alter procedure [readpast].sweep_cursors
as
set nocount on;
set xact_abort on;
declare @us bigint = datediff_big(microsecond, '1970-01-01', sysutcdatetime());
delete l
  from [readpast].lane as l with (rowlock, readpast, readcommittedlock)
 where exists (select 1 from [readpast].lane as o with (readpast, readcommittedlock)
                where o.queue_id = l.queue_id and o.lane_id = l.lane_id and o.id < l.id);
update l
   set cursor_at = isnull(n.first_ready, @us - 1000000)
  from (select i.id,
               (select top (1) k.seq
                  from [readpast].job as k with (rowlock, readpast, readcommittedlock)
                 where k.lane_id = i.lane_id and k.lease_until is null
                 order by k.seq, k.id) as first_ready
          from [readpast].lane as i with (readpast, readcommittedlock)) as n,
       [readpast].lane as l with (rowlock, readpast, updlock, readcommittedlock)
 where l.id = n.id
   and (l.cursor_at <> n.first_ready
        or n.first_ready is null and l.cursor_at < @us - 60000000);
go
if object_id(N'readpast.sweep') is null
	exec sp_executesql N'create procedure [readpast].sweep as return 0';
go
-- sweep: do all maintenance. It ends leases that ran out, makes scheduled jobs ready
-- when they are due, deletes kept jobs whose retention time is over and the jobs of
-- dropped queues, and moves the cursors of the lanes (the places at which claims
-- start). Call `sweep` about once a second, from each worker or from one job of the SQL
-- Server Agent. Only one session sweeps at a time. If another session is sweeping, the
-- call does nothing and returns without waiting. Do not call `sweep` in a transaction
-- that stays open, because no other session can sweep until that transaction ends.
-- @most: each step changes at most this many jobs.
-- @unless_ms: do nothing if a sweep has ended less than this long ago.
-- Rows: one. swept: 1, or 0 if this call did nothing. due, recovered, dead, dropped:
-- how many scheduled jobs became ready, how many jobs lost their lease and are ready
-- again, how many jobs lost their lease and are dead, and how many kept jobs were
-- deleted.
-- Errors: 52003 wrong argument, 52007 wrong isolation level, 52008 doomed transaction.
-- Locks: the rows that it changes. Rows that other transactions have locked are
-- skipped.

alter procedure [readpast].sweep @most int = 20000, @unless_ms bigint = 0
as
set nocount on;
set xact_abort on;
declare @got int, @last datetime2(3), @due int = 0, @recovered int = 0, @dead int = 0,
        @dropped int = 0, @swept int = 0,
        @resource nvarchar(255) = concat(N'readpast.sweep ', db_id());
exec [readpast].need_read_committed;
if @most is null or @most < 1 or @unless_ms is null
	throw 52003, N'@most must be at least 1, and @unless_ms must not be null', 1;
begin transaction;
-- If Babelfish 4 has to refuse an application lock, its whole server stops. So test
-- first whether the lock is free. The databases of Babelfish share their application
-- locks, so the lock's name contains the id of the database.
if applock_test(N'public', @resource, N'Exclusive', N'Transaction') = 1
	exec @got = sp_getapplock @Resource = @resource, @LockMode = N'Exclusive',
	@LockOwner = N'Transaction', @LockTimeout = 0;
if @got >= 0
begin
	select @last = convert(datetime2(3), m.value, 126)
	  from [readpast].meta as m
	 where m.name = N'swept_at';
	if @last is null or @unless_ms = 0
	   or datediff_big(millisecond, @last, sysutcdatetime()) not between 0 and @unless_ms
		set @swept = 1;
end;
if @swept = 1
begin
	exec [readpast].sweep_line @most;
	exec [readpast].sweep_leases @most, @recovered output, @dead output;
	exec [readpast].sweep_due @most, @due output;
	exec [readpast].sweep_kept @most, @dropped output;
	exec [readpast].sweep_dropped @most;
	exec [readpast].sweep_cursors;
	update m
	   set value = convert(nvarchar(100), sysutcdatetime(), 126)
	  from [readpast].meta as m
	 where m.name = N'swept_at';
end;
commit transaction;
select @swept as swept, @due as due, @recovered as recovered, @dead as dead,
       @dropped as dropped;
go
if object_id(N'readpast.queue_set') is null
	exec sp_executesql N'create procedure [readpast].queue_set as return 0';
go
-- queue_set: change settings of a queue. The queue is created if it does not exist.
-- @queue: the name of the queue.
-- @max_attempts .. @max_payload: the new settings. Null leaves a setting as it is.
-- Errors: 52003 wrong argument, 52008 doomed transaction.
-- Locks: the queue's row.

alter procedure [readpast].queue_set
	@queue nvarchar(4000), @max_attempts int = null, @lease_ms bigint = null,
	@backoff_ms bigint = null, @backoff_max_ms bigint = null, @priority int = null,
	@keep_done_ms bigint = null, @keep_dead_ms bigint = null,
	@max_payload bigint = null
as
set nocount on;
set xact_abort on;
declare @queue_id int, @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
set @message = case
	when @max_attempts < 1 or @max_attempts > 1000000000 then
		N'max_attempts is not within 1..1000000000'
	when @priority < 0 or @priority > 255 then N'the priority is not within 0..255'
	when @lease_ms < 1 or @lease_ms > 315360000000 then
		N'the lease is not within 1 ms..3650 days'
	when @backoff_ms < 0 or @backoff_ms > 315360000000
	     or @backoff_max_ms < 0 or @backoff_max_ms > 315360000000
	     or @keep_done_ms < 0 or @keep_done_ms > 315360000000
	     or @keep_dead_ms < 0 or @keep_dead_ms > 315360000000 then
		N'backoff_ms, backoff_max_ms, keep_done_ms and keep_dead_ms must be within 0..3650 days'
	when @max_payload < 0 or @max_payload > 1000000000 then
		N'max_payload is not within 0..1000000000 bytes' end;
if @message is not null
	throw 52003, @message, 1;
begin transaction;
exec [readpast].queue_create @queue;
exec [readpast].need_queue @queue, @queue_id output;
if @priority is not null
	exec [readpast].open_lane @queue_id, @priority;
update q
   set max_attempts = isnull(@max_attempts, q.max_attempts),
       lease_ms = isnull(@lease_ms, q.lease_ms),
       backoff_ms = isnull(@backoff_ms, q.backoff_ms),
       backoff_max_ms = isnull(@backoff_max_ms, q.backoff_max_ms),
       priority = isnull(@priority, q.priority),
       keep_done_ms = isnull(@keep_done_ms, q.keep_done_ms),
       keep_dead_ms = isnull(@keep_dead_ms, q.keep_dead_ms),
       max_payload = isnull(@max_payload, q.max_payload)
  from [readpast].queue as q with (rowlock)
 where q.id = @queue_id;
commit transaction;
go
if object_id(N'readpast.queue_drop') is null
	exec sp_executesql N'create procedure [readpast].queue_drop as return 0';
go
-- queue_drop: delete a queue and its jobs. The queue is gone at once, and its name is
-- free. The next sweeps delete its jobs.
-- @queue: the name of the queue.
-- Errors: 52003 the name is null, 52005 no such queue, 52006 jobs of the queue are
-- running, or an open transaction has added jobs, 52007 wrong isolation level, 52008
-- doomed transaction.
-- Locks: the queue's rows in the tables `queue`, `queue_use` and `lane`.

alter procedure [readpast].queue_drop @queue nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @queue_id int, @message nvarchar(2048);
exec [readpast].need_read_committed;
begin transaction;
exec [readpast].need_queue @queue, @queue_id output;
set @message = concat(N'queue ', @queue, N' is in use: wait for its running jobs or cancel them, and end transactions that have added jobs');
-- An open transaction that has added jobs has locked the queue's row in queue_use. Then
-- READPAST skips the row, no row is deleted, and the queue is not dropped.
delete u
  from [readpast].queue_use as u with (rowlock, readpast, readcommittedlock)
 where u.queue_id = @queue_id;
if @@rowcount = 0
	throw 52006, @message, 1;
if exists (select 1 from [readpast].job as j with (readuncommitted)
            where j.lane_id = 0 - @queue_id and j.lease_until is not null)
   or exists (select 1
                from [readpast].lane as l
               inner join [readpast].job as j with (readuncommitted)
                  on j.lane_id = l.lane_id
               where l.queue_id = @queue_id and j.lease_until is not null)
	throw 52006, @message, 1;
delete from [readpast].lane where queue_id = @queue_id;
delete from [readpast].queue where id = @queue_id;
insert into [readpast].dropped (queue_id) values (@queue_id);
commit transaction;
go
if object_id(N'readpast.pause') is null
	exec sp_executesql N'create procedure [readpast].pause as return 0';
go
-- pause: pause a queue. No job of a paused queue is claimed, but jobs can be enqueued.
-- If the queue is paused already, its paused_at does not change. The reason changes if
-- @reason is not null.
-- @queue: the name of the queue.
-- @reason: a text for people, or null.
-- Errors: 52003 wrong argument, 52005 no such queue, 52008 doomed transaction.
-- Locks: the queue's row.

alter procedure [readpast].pause
	@queue nvarchar(4000), @reason nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
declare @queue_id int;
exec [readpast].need_queue @queue, @queue_id output;
if [readpast].is_bad_name(@reason, 255) = 1
	throw 52003, N'the reason must have 1 to 255 characters, no control characters and no space at the end', 1;
update q
   set paused_at = isnull(q.paused_at, sysutcdatetime()),
       pause_reason = isnull(@reason, q.pause_reason)
  from [readpast].queue as q with (rowlock)
 where q.id = @queue_id;
go
if object_id(N'readpast.resume') is null
	exec sp_executesql N'create procedure [readpast].resume as return 0';
go
-- resume: end the pause of a queue.
-- @queue: the name of the queue.
-- Errors: 52003 the name is null, 52005 no such queue, 52008 doomed transaction.
-- Locks: the queue's row.

alter procedure [readpast].resume @queue nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @queue_id int;
exec [readpast].need_queue @queue, @queue_id output;
update q
   set paused_at = null, pause_reason = null
  from [readpast].queue as q with (rowlock)
 where q.id = @queue_id;
go
if object_id(N'readpast.stats') is null
	exec sp_executesql N'create procedure [readpast].stats as return 0';
go
-- stats: show the numbers of one queue or of all queues. Up to 10,000 jobs of each state
-- are counted. The procedure also counts rows that are not committed, so it never waits
-- for a lock.
-- @queue: the name of the queue. Null: all queues.
-- Rows: one for each queue, by name: how many jobs are in each state, the age of the
-- oldest ready job, and how many live workers claim from the queue. (A worker is live
-- if it was seen in the last 30 s.)
-- `more` is 1 if one of the states may have more jobs than its number says.
-- Errors: none. A queue that does not exist has no row.
-- Locks: none.

alter procedure [readpast].stats @queue nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
select q.name, case when q.paused_at is null then 0 else 1 end as paused, q.pause_reason,
       s.scheduled, l.ready, l.running + s.running as running, a.done, a.dead, a.cancelled,
       datediff_big(millisecond, l.oldest, @now) as oldest_ready_ms,
       (select count(*)
          from [readpast].worker_queue as k
         inner join [readpast].worker as w on w.id = k.worker_id
         where k.queue = q.name and w.seen_at > dateadd(second, -30, @now)) as workers,
       case when s.n >= 10000 or l.n >= 10000 or a.n >= 10000 then 1 else 0 end as more
  from [readpast].queue as q
 cross apply (select count(*) as n, count(*) - count(i.lease_until) as scheduled,
                     count(i.lease_until) as running
                from (select top (10000) j.lease_until
                        from [readpast].job as j with (readuncommitted)
                       where j.lane_id = 0 - q.id
                       order by j.seq) as i) as s
 cross apply (select count(*) as n, count(*) - count(i.lease_until) as ready,
                     count(i.lease_until) as running,
                     min(case when i.lease_until is null then i.run_at end) as oldest
                from (select top (10000) j.lease_until, j.run_at
                        from [readpast].job as j with (readuncommitted)
                       where j.lane_id between cast(q.id as bigint) * 1024
                                           and cast(q.id as bigint) * 1024 + 1023
                       order by j.lane_id, j.seq) as i) as l
 cross apply (select max(c.n) as n,
                     max(case when c.state = 4 then c.n end) as done,
                     max(case when c.state = 5 then c.n end) as dead,
                     max(case when c.state = 6 then c.n end) as cancelled
                from (select t.state, (select count(*)
                                         from (select top (10000) k.id
                                                 from [readpast].archive as k with (readuncommitted)
                                                where k.queue_id = q.id and k.state = t.state) as r) as n
                        from (select 4 as state union all select 5 union all select 6) as t) as c) as a
 where @queue is null or q.name = @queue
 order by q.name;
go
if object_id(N'readpast.why') is null
	exec sp_executesql N'create procedure [readpast].why as return 0';
go
-- why: tell why a live job waits, or which worker runs it.
-- @id: the job.
-- @most: the count of the jobs ahead of this job stops at this number.
-- Rows: one, or none if there is no such live job. state: the state of the job;
-- due_in_ms: the time until a scheduled job is due; paused_at, pause_reason: the pause
-- of its queue; ahead: how many ready jobs will be claimed before this job; suspect: 1
-- if the job is a suspect, which runs alone; workers: how many workers that claim from
-- its queue were seen in the last 30 s; worker: the worker that claimed the job last;
-- silent_ms: how long ago this worker was last seen; lease_until, renewed: the end of
-- the job's lease, and how many times the lease was renewed.
-- Errors: none.
-- Locks: none.

alter procedure [readpast].why @id bigint, @most int = 1000
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
select case when j.lease_until is not null then N'running'
            when j.lane_id > 0 or j.run_at <= @now then N'ready' else N'scheduled' end as state,
       case when j.lane_id < 0 and j.run_at > @now and j.lease_until is null
            then datediff_big(millisecond, @now, j.run_at) end as due_in_ms,
       q.paused_at, q.pause_reason,
       (select count(*)
          from (select top (@most) k.id
                  from [readpast].job as k with (readuncommitted)
                 where k.lane_id between cast(j.queue_id as bigint) * 1024
                                     and case when j.lane_id > 0 then j.lane_id
                                              else cast(j.queue_id as bigint) * 1024 + 1023 end
                   and (k.lane_id < j.lane_id or j.lane_id < 0 or k.seq < j.seq
                        or k.seq = j.seq and k.id < j.id)
                   and k.lease_until is null) as a) as ahead,
       case when j.class = 1 then 1 else 0 end as suspect,
       (select count(*)
          from [readpast].worker_queue as k
         inner join [readpast].worker as w on w.id = k.worker_id
         where k.queue = q.name and w.seen_at > dateadd(second, -30, @now)) as workers,
       h.name as worker, datediff_big(millisecond, h.seen_at, @now) as silent_ms,
       j.lease_until, j.renewed
  from [readpast].job as j with (readuncommitted)
 inner join [readpast].queue as q on q.id = j.queue_id
  left join [readpast].worker as h on h.id = j.worker_id
 where j.id = @id;
go
-- jobs: a view of all live and kept jobs, for people. It shows states as words and
-- payloads as text.
-- Locks: the locks of any query at the session's isolation level.

create view [readpast].jobs
as
select j.id, q.name as queue,
       case when j.lease_until is not null then N'running'
            when j.lane_id > 0 or j.run_at <= sysutcdatetime() then N'ready'
            else N'scheduled' end as state,
       j.priority, j.attempt, j.max_attempts, j.claim_no, w.name as worker, j.run_at,
       j.created_at, j.lease_until, cast(null as datetime2(3)) as finished_at,
       j.unique_key, j.kind, j.headers, [readpast].text_of(j.payload) as payload,
       j.last_error, j.failures
  from [readpast].job as j
 inner join [readpast].queue as q on q.id = j.queue_id
  left join [readpast].worker as w on w.id = j.worker_id
union all
select a.id, q.name, [readpast].state_word(a.state), a.priority, a.attempt,
       a.max_attempts, a.claim_no, a.worker, a.run_at, a.created_at,
       cast(null as datetime2(3)), a.finished_at, a.unique_key, a.kind, a.headers,
       [readpast].text_of(a.payload), a.last_error, a.failures
  from [readpast].archive as a
 inner join [readpast].queue as q on q.id = a.queue_id;
go
-- grants: create the three roles, and let their members call procedures. The members
-- need no rights on the tables, because the procedures and the tables have the same
-- owner.

if database_principal_id(N'readpast_producer') is null
	create role readpast_producer;
if database_principal_id(N'readpast_worker') is null
	create role readpast_worker;
if database_principal_id(N'readpast_admin') is null
	create role readpast_admin;

grant execute on object::[readpast].enqueue to readpast_producer;
grant execute on object::[readpast].enqueue_many to readpast_producer;

grant execute on object::[readpast].claim to readpast_worker;
grant execute on object::[readpast].settle to readpast_worker;
grant execute on object::[readpast].settle_and_claim to readpast_worker;
grant execute on object::[readpast].complete to readpast_worker;
grant execute on object::[readpast].fail to readpast_worker;
grant execute on object::[readpast].release to readpast_worker;
grant execute on object::[readpast].extend to readpast_worker;
grant execute on object::[readpast].sweep to readpast_worker;
grant execute on object::[readpast].stats to readpast_worker;
grant execute on object::[readpast].why to readpast_worker;
grant execute on object::[readpast].text_of to readpast_worker;

grant execute on object::[readpast].enqueue to readpast_admin;
grant execute on object::[readpast].enqueue_many to readpast_admin;
grant execute on object::[readpast].cancel to readpast_admin;
grant execute on object::[readpast].retry to readpast_admin;
grant execute on object::[readpast].purge to readpast_admin;
grant execute on object::[readpast].sweep to readpast_admin;
grant execute on object::[readpast].queue_set to readpast_admin;
grant execute on object::[readpast].queue_drop to readpast_admin;
grant execute on object::[readpast].pause to readpast_admin;
grant execute on object::[readpast].resume to readpast_admin;
grant execute on object::[readpast].stats to readpast_admin;
grant execute on object::[readpast].why to readpast_admin;
grant execute on object::[readpast].text_of to readpast_admin;
grant select on object::[readpast].jobs to readpast_admin;
go
-- done: print what the script has installed.

declare @made nvarchar(100), @procedures int;
select @made = m.value from [readpast].meta as m where m.name = N'installed_at';
select @procedures = count(*) from sys.procedures as p
 where p.schema_id = schema_id(N'readpast');
print concat(N'PREVIEW: readpast for SQL Server, version 1 of its tables, which were created at ',
             @made, N' UTC. ', @procedures, N' procedures are installed in the schema readpast. ',
             N'Roles: readpast_producer, readpast_worker, readpast_admin.');
print N'Try: exec readpast.enqueue @queue = N''mail'', @text = N''hello''';
print N'     exec readpast.claim @queue = N''mail'', @n = 10, @worker = N''w1''';
go
-- end: let the session run statements again, in case the batch `stop` has stopped the
-- script.

set noexec off;
go
