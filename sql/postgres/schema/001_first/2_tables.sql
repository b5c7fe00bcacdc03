-- 2_tables: the tables for queues, live jobs, kept jobs, workers and schedules, and the
-- hints. Hints are tables that keep the cost of a claim constant and that may be lost.
-- docs/design.md explains each table.

create table readpast.meta (
	name  text primary key,
	value text not null
);

-- The columns that an enqueue reads come first. The low fillfactor leaves room to
-- update a row within its page.
-- lane_id: the lane of jobs that are enqueued without a priority.
-- waiters_until: after this time no worker is registered as a waiter for the queue.
-- job_waiters_until: after this time no client is registered as waiting for a job of
-- the queue. Null: nobody has waited lately.
-- dead_to: the queue that gets a copy of each job that dies, see put_dead().
create table readpast.queue (
	id             integer primary key generated always as identity,
	name           text not null unique,
	waiters_until   timestamptz not null default '-infinity',
	max_payload    bigint not null default 16777216,
	lane_id        bigint not null generated always as
	               (readpast.lane_of(id, priority, 2)) stored,
	paused_at      timestamptz,
	pause_reason   text,
	max_attempts   integer not null default 3,
	lease_ms       bigint not null default 60000,
	backoff_ms     bigint not null default 10000,
	backoff_max_ms bigint not null default 3600000,
	priority       integer not null default 100,
	keep_done_ms   bigint not null default 0,
	keep_dead_ms   bigint not null default 2592000000,
	timeout_ms     bigint not null default 0,
	job_waiters_until   timestamptz,
	dead_to        text,
	constraint "a queue's name is 1..:most_name bytes without control characters"
	check (octet_length(name) between 1 and :most_name
	       and name !~ '[\x01-\x1f\x7f]'),
	constraint "settings are within their limits"
	check (max_attempts between 1 and :most_attempts
	       and lease_ms between 1 and :most_ms
	       and backoff_ms between 0 and :most_ms
	       and backoff_max_ms between 0 and :most_ms
	       and priority between 0 and :most_priority
	       and keep_done_ms between 0 and :most_ms
	       and keep_dead_ms between 0 and :most_ms
	       and max_payload between 0 and :most_payload
	       and timeout_ms between 0 and :most_ms)
) with (fillfactor = 10);

-- This index tells a completion quickly that no queue keeps done jobs and that nobody
-- waits for a job. Usually both are true, and the index is empty.
create index queue_keeps on readpast.queue (id)
	where keep_done_ms > 0 or job_waiters_until is not null;

-- Queues that were dropped while open transactions could put jobs into them.
-- xid: all such transactions have smaller ids. Null: no sweep has seen this row yet.
-- open: the snapshot of the last sweep that looked at this row.
create table readpast.dropped (
	queue_id integer primary key,
	name     text not null,
	xid      xid8,
	open     pg_snapshot
);

-- The lanes that were ever used. Claims visit these. A lane holds the jobs of one
-- queue, priority and class, see lane_of(). There is no unique key: two transactions
-- that open a lane at once must not wait for each other, and a duplicate does no harm.
-- A trigger opens the lane of a queue's own priority, so only an enqueue that names a
-- priority has to check.
create table readpast.lane (
	lane_id bigint not null
);
create index lane_id on readpast.lane (lane_id);

-- A live job is in one of two places:
--   in the ready line: seq is not null. It is ready, or it has been claimed a few
--     seconds ago, because a claim leaves it in the line.
--   out of the line: seq is null, and run_at is the time by which it is found. It is
--     scheduled, waits after a failed attempt, or has been running for longer. In the
--     last case run_at is the end of its lease.
-- A job is running, or held, while lease_until is not null. The default of seq draws
-- the number at the end of the line. An enqueue of a scheduled job passes null instead.
-- If the enqueue drew the number itself, its plan would have one more step.
--
-- A claim changes lease_until, claim_no, worker_id and attempt. No index may ever name
-- one of these columns. Then a claim is a HOT update: it writes one row version in the
-- same page and no index, and the next reader of the page removes the old version. The
-- fillfactor leaves the room for that.
--
-- There are no check constraints, because every update would read and plan each of them
-- again. The enqueue checks its arguments.
--
-- claim_no: the time of the claim in microseconds, or one more than the job's last
-- claim number if that is larger.
-- worker_id: the worker that was given claim_no. 0: a client that is no worker. Null:
-- no client was given that number, so no verdict can name it.
-- renewed: how often the lease was renewed. A verdict or the end of the lease sets this
-- to 0, so that a claim need not set it.
-- lost: how many leases of the job in a row ran out.
-- expire_at: the job is not claimed after this time. This and the following four are a job's
-- own terms, null if its enqueue named none. Each verdict reads keep_ms and unique_for_ms,
-- so they stand before the columns of variable length. keep_ms: how long it is kept after it
-- is done; timeout_ms: the longest run of a handler; backoff: a JSON array, the delays in
-- milliseconds after the first, second, ... failed attempt, of which the last repeats;
-- unique_for_ms: how long its unique key stays taken after it is done.
-- progress: what the handler reported last; null: nothing. The next attempt gets it.
create sequence readpast.line;
create table readpast.job (
	id           bigint primary key generated by default as identity,
	lane_id      bigint not null,
	seq          bigint default nextval('readpast.line'),
	run_at       timestamptz not null,
	created_at   timestamptz not null,
	queue_id     integer not null,
	max_attempts integer not null,
	lease_until  timestamptz,
	expire_at    timestamptz,
	claim_no     bigint not null default 0,
	worker_id    bigint,
	attempt      integer not null default 0,
	renewed      integer not null default 0,
	lost         integer not null default 0,
	keep_ms      bigint,
	unique_for_ms bigint,
	timeout_ms   bigint,
	unique_key   text,
	kind         text,
	headers      json,
	last_error   text,
	failures     jsonb,
	payload      bytea not null,
	backoff      json,
	progress     text
) with (
	fillfactor = 45,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 0
);

create index job_line on readpast.job (lane_id, seq) where seq is not null;
-- Two indexes for jobs that are found by their time. The sweep uses the first, for all
-- queues. Questions about one queue use the second.
create index job_due on readpast.job (run_at) where seq is null;
create index job_scheduled on readpast.job (queue_id, run_at)
	where seq is null;
-- The jobs that have an expire_at.
create index job_expire on readpast.job (expire_at)
	where expire_at is not null;
create unique index job_unique on readpast.job (queue_id, unique_key)
	where unique_key is not null;

-- ---- hints: tick, cursor, recheck and waiter may be truncated at any time, in one
-- statement. No job is lost, and the next sweep scans the whole ready line once. In a
-- lane, "before" a number means smaller numbers, and "past" it larger ones.

-- Cursors: places in a lane where claims start, see claims_start(). A claim that has
-- found its first job appends a cursor, with that job's number as `head`. Later claims
-- start at the newest head. While that cursor is younger than cursor_age(), open
-- transactions may still add jobs before it. Then claims start at its `settled`, or at
-- the head of the newest cursor that is older, whichever number is larger. Hardly any
-- open transaction has drawn a number before `settled`.
-- drawn: the last number that had been drawn when the cursor was made.
-- next_xid: nearly all transactions that had drawn a number then have smaller ids. The
-- next cursor's `settled` is computed from these two columns.
-- visit_at: the time at which the sweep visits the places before the cursor, once.
-- low: the sweep has seen all places before this one. A row with low <= head is still
-- on the sweep's work list.
-- Two lanes belong to the sweep itself, and their heads are microseconds since 1970.
--   lane 0: all jobs that were scheduled up to this time have been moved.
--   lane -1: the work list begins at this time. If this lane is missing, the hints were
--     truncated.
create table readpast.cursor (
	lane_id  bigint not null,
	head     bigint not null,
	low      bigint not null,
	made_at  timestamptz not null,
	visit_at timestamptz not null,
	settled  bigint not null,
	drawn    bigint,
	next_xid xid8,
	primary key (lane_id, head)
);
create index cursor_to_visit on readpast.cursor (visit_at) where low <= head;
insert into readpast.cursor (lane_id, head, low, made_at, visit_at, settled)
values (0, 0, 1, clock_timestamp(), 'infinity', 0),
       (-1, 0, 1, clock_timestamp(), 'infinity', 0);

-- Rechecks: ranges of a lane that the sweep has to look at again, because jobs may
-- appear there, before the cursor. A range goes from `first` to `last`, which is
-- line_end() if the range has no end. The sweep looks after the transaction `waits_for`
-- has ended, or at once if that is null.
create table readpast.recheck (
	id        bigint primary key generated always as identity,
	lane_id   bigint not null,
	first     bigint not null,
	last      bigint not null,
	waits_for xid8
);
create index recheck_lane on readpast.recheck (lane_id);

-- Ticks, one a second. They tell a sweep which numbers of the ready line an open
-- transaction may have drawn. A transaction that drew a number up to `seq` has an id
-- below `next_xid`. (The idea and the name are PgQ's.) The table is unlogged, because
-- ticks may be lost in a crash.
-- seq: the last number that was drawn.
-- next_xid: a transaction id that was read after `seq`.
-- read_at: a time before `seq` was read.
-- made_at: a time after `next_xid` was read.
create unlogged table readpast.tick (
	next_xid xid8 primary key,
	seq      bigint not null,
	read_at  timestamptz not null,
	made_at  timestamptz not null
);

-- An open transaction, and the range of the ready line in which it may have drawn
-- numbers.
create type readpast.open_range as (xid xid8, first bigint, last bigint);

-- Finished jobs that are kept.
-- state: 4 done, 5 dead, 6 cancelled.
-- result: the result that the handler of a done job returned, or null.
create table readpast.archive (
	id           bigint primary key,
	queue_id     integer not null,
	state        integer not null,
	finished_at  timestamptz not null,
	priority     integer not null,
	run_at       timestamptz not null,
	claim_no     bigint not null,
	attempt      integer not null,
	max_attempts integer not null,
	worker       text,
	created_at   timestamptz not null,
	unique_key   text,
	kind         text,
	headers      json,
	payload      bytea not null,
	last_error   text,
	failures     jsonb,
	keep_ms       bigint,
	timeout_ms    bigint,
	expire_at     timestamptz,
	backoff       json,
	unique_for_ms bigint,
	progress      text,
	result        bytea
);

create index archive_state
	on readpast.archive (queue_id, state, finished_at, id);

-- The unique keys that stay taken although their jobs are done, and until when. A job
-- leaves a row here only if it was enqueued with unique_for. The job itself may be kept
-- or deleted.
create table readpast.taken_key (
	queue_id   integer not null,
	unique_key text not null,
	job_id     bigint not null,
	until      timestamptz not null,
	primary key (queue_id, unique_key)
);
create index taken_key_until on readpast.taken_key (until);

-- How many kept jobs the archive has of each queue and state. The number is the sum of
-- `change`. Rows are appended, so two transactions that change the archive do not wait
-- for each other. The sweep replaces rows by their sum. The number is exact and not a
-- hint, because each row is written in the transaction that changes the archive. No
-- statement names a single row, so there is no key. Done jobs with a keep_ms are
-- counted as state 14, because they are not deleted by the queue's setting.
create table readpast.kept_count (
	queue_id integer not null,
	state    integer not null,
	change   bigint not null
);
create index kept_count_of on readpast.kept_count (queue_id, state);
alter table readpast.kept_count replica identity full;

-- Workers.
-- kinds: the kinds for which the worker has handlers, as 'queue/kind'. 'queue/' stands
-- for all other kinds of that queue.
create table readpast.worker (
	id         bigint primary key generated always as identity,
	name       text not null,
	host       text not null,
	pid        bigint not null,
	queues     jsonb not null,
	kinds      jsonb not null,
	started_at timestamptz not null,
	seen_at    timestamptz not null,
	stopped_at timestamptz,
	done       bigint not null default 0,
	failed     bigint not null default 0,
	dead       bigint not null default 0,
	released   bigint not null default 0
);

-- Waiters: workers that wait for a notification, and until when. An enqueue into a
-- queue notifies one of the queue's waiters and deletes its row. An enqueue reads this
-- table only before queue.waiters_until, which is set a minute further ahead than
-- `until`, so that it is rarely updated.
create table readpast.waiter (
	id        bigint primary key generated always as identity,
	queue_id  integer not null,
	until     timestamptz not null,
	worker_id bigint not null
);
create index waiter_until on readpast.waiter (queue_id, until);
create index waiter_all on readpast.waiter (until);

-- Clients that wait for the end of a job. The transaction that ends the job notifies
-- them on the channel `readpast.job.PID`, where PID is the server's process of the
-- client's session. A verdict reads this table only before queue.job_waiters_until,
-- which is set a minute further ahead than `until`, so that it is rarely updated. It is
-- null if nobody has waited lately. Rows may be lost, because a client also checks its
-- job without a notification, at growing intervals. The table is unlogged, because a
-- client that lost its connection registers again.
create unlogged table readpast.job_waiter (
	job_id bigint not null,
	pid    integer not null,
	until  timestamptz not null,
	primary key (job_id, pid)
);

-- How many jobs of a queue were finished in each of the last seconds, for the rates
-- that `stats` shows. A second may have several rows, which the reader adds up. So two
-- clients that finish jobs in the same second do not wait for each other.
create table readpast.tally (
	second   bigint not null,
	queue_id integer not null,
	done     bigint not null,
	failed   bigint not null
);
create index tally_second on readpast.tally (second);

-- Schedules: each puts a job into its queue at the instants that its spec names.
-- next_at: the next instant; a fire moves it on in the transaction that enqueues the job.
-- anchor: where `every D` counts from. missed: what becomes of instants at which nobody
-- fired: 0 one job for all, 1 a job for each, 2 none. overlap: 1: no new job while one of
-- this schedule is live. last_at, last_job_id: the last instant that fired, and its job;
-- last_error: why that has no job. standby: null, but for a schedule that is paused because
-- of a copy: 'leaving' in the source of a move, 'copied' or 'moved' and the name of the
-- source in a target; ' paused' follows if the schedule was paused before that. sets: the spec, parsed: bits of the minutes, hours,
-- days, months and weekdays; 1 if a day that is in one of the two sets matches; 1 if a
-- local time that occurs twice matches twice; the milliseconds of `every D`, or 0.
create table readpast.schedule (
	id          bigint primary key generated always as identity,
	name        text not null unique,
	queue       text not null,
	spec        text not null,
	zone        text not null,
	sets        bigint[] not null,
	content     bytea not null,
	kind        text,
	headers     json,
	priority    integer,
	missed      integer not null,
	overlap     integer not null,
	anchor      timestamptz not null,
	next_at     timestamptz,
	last_at     timestamptz,
	last_job_id bigint,
	last_error  text,
	paused_at   timestamptz,
	created_at  timestamptz not null,
	standby     text
);

create index schedule_due on readpast.schedule (next_at)
	where paused_at is null;

-- A publication `for all tables` makes the server refuse updates and deletes of a table
-- that has neither a primary key nor a replica identity. These tables have no primary
-- key. Their rows are small, and few are deleted.
alter table readpast.lane replica identity full;
alter table readpast.tally replica identity full;

insert into readpast.meta (name, value)
values ('schema', '1'), ('build', ':build'),
       ('installed_at', clock_timestamp()::text);
