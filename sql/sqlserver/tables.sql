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
