-- 2_tables: the tables for queues, live jobs (jobs that have not ended), kept jobs,
-- workers and schedules. Four more tables are hints: they make claims fast, and their
-- rows may be lost. Below, "the sweep" is the maintenance that one of the workers does
-- once a second. docs/design.md explains each table.

create table readpast.meta (
	name  text primary key,
	value text not null
);

-- Queues and their settings. The columns that an enqueue reads come first, because the
-- first columns of a row are the fastest to read. The low fillfactor leaves room to
-- update a row within its page.
-- lane_id: the lane of jobs that are enqueued without a priority.
-- waiters_until: after this time no worker waits for a notification about the queue,
-- see the table `waiter`.
-- job_waiters_until: after this time no client waits for the end of a job of the
-- queue, see the table `job_waiter`. Null: no client has waited lately.
-- dead_to: the name of another queue, which gets a copy of each job of this queue that
-- dies, see put_dead().
-- run_limit: how many jobs of this queue may run at the same time. 0: any number.
-- group_limit: how many jobs of one group may run at the same time. 0: any number.
-- group_epoch: gets a new number, which was never used before, when the group limit is
-- lowered, or is set in a queue that had none. See slot_epoch of the table `job`.
-- group_pass: 0: a failed job keeps its slot of its group until its retry. 1: the next
-- job of the group gets the slot.
-- group_lowered: true if a group may have more slots than the limit, because the group
-- limit was lowered, was ended and set again, or was set while more jobs ran.
-- rate_count, rate_ms: at most rate_count jobs of this queue may start within rate_ms.
-- A rate_count of 0: any number.
-- held_until: no job of this queue starts before this time.
-- holds_until: after this time no group of this queue is held. Null: no group was ever
-- held.
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
	run_limit      integer not null default 0,
	group_limit    integer not null default 0,
	group_pass     integer not null default 0,
	group_epoch    bigint not null default 0,
	group_lowered  boolean not null default false,
	rate_count     integer not null default 0,
	rate_ms        bigint not null default 0,
	held_until     timestamptz,
	holds_until    timestamptz,
	constraint "a queue's name has 1 to :most_name bytes and no control characters"
	check (octet_length(name) between 1 and :most_name
	       and name !~ e'[\\x01-\\x1f\\x7f-\\x9f]'),
	constraint "settings are within their limits"
	check (max_attempts between 1 and :most_attempts
	       and lease_ms between 1 and :most_ms
	       and backoff_ms between 0 and :most_ms
	       and backoff_max_ms between 0 and :most_ms
	       and priority between 0 and :most_priority
	       and keep_done_ms between 0 and :most_ms
	       and keep_dead_ms between 0 and :most_ms
	       and max_payload between 0 and :most_payload
	       and timeout_ms between 0 and :most_ms
	       and run_limit between 0 and :most_limit
	       and group_limit between 0 and :most_limit
	       and rate_count between 0 and :most_rate
	       and rate_ms between 0 and :most_ms)
) with (fillfactor = 10);

-- When a job is done, this index shows whether its queue keeps done jobs or has a group
-- limit, and whether a client may wait for the end of a job. Usually no queue is in the
-- index, so one cheap read is enough.
create index queue_keeps on readpast.queue (id)
	where keep_done_ms > 0 or job_waiters_until is not null or group_limit > 0;

-- Dropped queues. Transactions that were open during the drop may still put jobs into
-- such a queue.
-- xid: a transaction id that is larger than the ids of all these transactions. Null:
-- no sweep has seen this row yet.
-- open: the snapshot of the last sweep that looked at this row.
create table readpast.dropped (
	queue_id integer primary key,
	name     text not null,
	xid      xid8,
	open     pg_snapshot
);

-- The lanes that were ever used. A lane holds the jobs of one queue, priority and
-- class, see lane_of(). A claim visits all lanes of its queue that are in this table.
-- The table has no unique key. With such a key, two transactions that add the same lane
-- would wait for each other. lanes_of() ignores duplicates. A trigger adds the lane of
-- each queue's default priority. So only an enqueue that names a priority has to check
-- whether this table has the lane.
create table readpast.lane (
	lane_id bigint not null
);
create index lane_id on readpast.lane (lane_id);

-- A live job is in one of two places:
--   in the ready line: `seq` is the job's number in this line, in which claims search.
--     The job is ready, or it was claimed at most a few seconds ago. (A claim leaves
--     the job in the line; a sweep moves it out later.)
--   out of the line: `seq` is null, and the sweep finds the job by its run_at. The job
--     is scheduled, waits after a failed attempt, or has been running for longer than
--     a few seconds. For such a running job run_at is the end of its lease.
-- A job is running while lease_until is not null.
--
-- The default of `seq` draws the next number, at the end of the line. An enqueue of a
-- scheduled job writes null instead. The fast path of an enqueue, put_plain(), relies
-- on the default and does not call nextval() itself, because its plan is then one step
-- shorter, and so faster.
--
-- A claim changes lease_until, claim_no, worker_id and attempt. No index may ever
-- contain one of these columns, so that a claim is a HOT update. A HOT update writes a
-- new row version into the same page and writes no index. The next reader of the page
-- removes the old version. The fillfactor leaves room in the page for the new version.
--
-- There are no check constraints, because every update would have to read and plan
-- them. Instead, the enqueue checks its arguments.
--
-- claim_no: identifies the last claim of the job. It is the time of that claim in
-- microseconds since 1970, or the previous claim_no plus 1 if that is larger.
-- worker_id: the worker that got the job with this claim_no. 0: a client that is not a
-- worker got it. Null: the job failed or was released, or it was replaced by a new
-- enqueue. Each of these raised claim_no without a claim, so no client has received
-- this claim_no.
-- renewed: how many times the lease was renewed. A verdict or the end of the lease sets
-- this to 0, so that a claim need not set it.
-- lost: how many of the job's latest leases ran out in a row.
-- slot_epoch: the queue's group_epoch when the job got a slot of its group. A ready job
-- whose slot_epoch is the queue's present group_epoch has a slot, so claims need not
-- search group_slot. A job with another slot_epoch may have a slot, too.
-- came: the number of a waiting job in the order of its group, see group_wait.
-- extra: the rarely used fields, see the type `extra`. Null: the job has none of them.
-- group_key: the name of the group to which the job belongs. Null: it belongs to none.
-- Each verdict reads `extra` and group_key. Reading them is faster because they come
-- before the text columns.
create sequence readpast.line;

-- The rarely used fields of a job: settings of its own, and progress. These fields are
-- one column of a composite type, because six columns would make each insert and each
-- claim more expensive, even for jobs that have none of these values.
-- keep_ms: how long the job is kept after it is done. Null: the queue's setting.
-- timeout_ms: how long a handler may run. Null: the queue's setting.
-- expire_at: the job is not claimed after this time. Null: the job never expires.
-- backoff: a JSON array of delays in milliseconds. The first delay follows the first
-- failed attempt, the second delay the second one, and so on. The last delay repeats.
-- Null: the queue's setting.
-- unique_for_ms: how long the unique key stays taken after the job is done. Null: the
-- key is free as soon as the job is done.
-- progress: the last progress that a handler reported. The next attempt gets it. Null:
-- no progress was reported.
create type readpast.extra as (
	keep_ms       bigint,
	timeout_ms    bigint,
	expire_at     timestamptz,
	backoff       json,
	unique_for_ms bigint,
	progress      text
);

create table readpast.job (
	id           bigint primary key generated by default as identity,
	lane_id      bigint not null,
	seq          bigint default nextval('readpast.line'),
	run_at       timestamptz not null,
	created_at   timestamptz not null,
	queue_id     integer not null,
	max_attempts integer not null,
	lease_until  timestamptz,
	claim_no     bigint not null default 0,
	worker_id    bigint,
	attempt      integer not null default 0,
	renewed      integer not null default 0,
	lost         integer not null default 0,
	slot_epoch   bigint,
	came         bigint,
	extra        readpast.extra,
	group_key    text collate "C",
	unique_key   text,
	kind         text,
	headers      json,
	last_error   text,
	failures     jsonb,
	payload      bytea not null
) with (
	fillfactor = 45,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 0
);

create index job_line on readpast.job (lane_id, seq) where seq is not null;
-- Two indexes for jobs that are out of the ready line. The sweep uses the first index,
-- to find the jobs of all queues by their run_at. Statements about one queue use the
-- second index. They compare the pair (queue_id, run_at). With a condition for each of
-- the two columns, the planner may choose job_due, and the server then reads the
-- scheduled jobs of all queues.
create index job_due on readpast.job (run_at)
	where seq is null and run_at < 'infinity';
create index job_scheduled on readpast.job (queue_id, run_at)
	where seq is null and run_at < 'infinity';
create unique index job_unique on readpast.job (queue_id, unique_key)
	where unique_key is not null;

-- The running jobs of queues that have a run_limit. A claim adds its jobs, see
-- take_slots(). The row of a job that has ended stays until a claim needs the room,
-- see free_slots(). So nothing that ends a job has to read this table. A transaction
-- that adds rows of a queue, or deletes the rows of ended jobs, holds the lock of
-- lock_limit(). Only forget_hints(), which deletes the rows of a dropped queue, does
-- not take this lock.
create table readpast.slot (
	queue_id integer not null,
	job_id   bigint not null,
	primary key (queue_id, job_id)
);

-- Slots of groups. In a queue with a group limit, a job of a group enters the ready
-- line only with a slot, and a group has at most group_limit slots. A job keeps its
-- slot while it is ready and while it runs. After a failed attempt it keeps the slot
-- until its retry, unless the queue has group_pass.
-- came: the job's number in the order of its group.
create table readpast.group_slot (
	queue_id  integer not null,
	group_key text collate "C" not null,
	job_id    bigint not null,
	priority  integer not null,
	came      bigint not null,
	primary key (queue_id, group_key, job_id)
);

-- Jobs that wait for their group, in the order of the group. In `job` the seq of such a
-- job is null, and its run_at is infinity, so no claim and no sweep finds it.
-- run_at: the time at which the job became due.
create table readpast.group_wait (
	queue_id  integer not null,
	group_key text collate "C" not null,
	priority  integer not null,
	came      bigint not null,
	job_id    bigint not null,
	run_at    timestamptz not null,
	primary key (queue_id, group_key, priority, came, job_id)
);

-- Recheck requests. A request names a group that may have both a waiting job and a free
-- slot. For example, a transaction adds a request when it frees a slot and gives the
-- slot to no job. The next claim or sweep carries out the requests, see
-- admit_requested().
-- xid: the transaction that has added the request, see group_cursor.
-- and_later: true if the request is for all groups of the queue whose names come after
-- this name, see request_later().
create table readpast.group_recheck (
	id        bigint not null generated always as identity,
	xid       xid8 not null default pg_current_xact_id(),
	queue_id  integer not null,
	group_key text collate "C" not null,
	and_later boolean not null default false,
	primary key (queue_id, xid, id)
);
create index group_recheck_later on readpast.group_recheck (queue_id) where and_later;

-- Cursors of recheck requests: where the search for the requests of a queue starts, so
-- that it does not read the requests that were carried out before. Vacuum cannot remove
-- them while an old snapshot is open. The newest cursor of a queue counts, but only until
-- the server restarts. After a restart there is no old snapshot, and the transaction ids
-- of a dump that was restored on another server mean nothing there. An administrator may
-- truncate this table at any time.
-- last_id: the largest id of the requests that were read before the cursor was made.
-- past: requests of transactions with this id or a larger one may be left.
-- open: the transactions with smaller ids of which requests may be left.
-- server: when the server was started.
create table readpast.group_cursor (
	queue_id integer not null,
	last_id  bigint not null,
	past     xid8 not null,
	open     xid8[] not null,
	server   timestamptz not null default pg_postmaster_start_time()
);
create index group_cursor_newest on readpast.group_cursor (queue_id, last_id desc);
alter table readpast.group_cursor replica identity full;

-- Queues whose group limit was raised or ended. An enqueue that had read the earlier limit
-- may be open after the commit of the change. Its job then waits by the earlier limit, and
-- nothing else finds it, because the enqueue adds no recheck request if it has locked the
-- group. So when these transactions are over, a sweep replaces the row by a request for
-- all groups of the queue, see recheck_limits().
create table readpast.limit_change (
	id       bigint primary key generated always as identity,
	queue_id integer not null
);

-- Groups that are held: none of their jobs starts before the time `until`.
create table readpast.group_hold (
	queue_id  integer not null,
	group_key text collate "C" not null,
	until     timestamptz not null,
	primary key (queue_id, group_key)
);
create index group_hold_until on readpast.group_hold (until);

-- The starts of jobs in queues with a rate, for as long as they count for that rate.
-- at_us: the time of the claim in microseconds since 1970, see note_starts().
create table readpast.start (
	queue_id integer not null,
	at_us    bigint not null,
	jobs     bigint not null,
	primary key (queue_id, at_us)
);

-- When jobs expire. The sweep reads this table to find jobs that it has to cancel.
-- first_id, last_id: all jobs with this expire_at that one enqueue inserted have ids
-- in this range. Other jobs may have ids in this range, too.
-- The sweep deletes a row some time after its expire_at. The jobs may have ended long
-- before. An index of `job` could replace this table. But at each insert the server
-- would prepare the condition of that index, even for jobs that never expire.
create table readpast.expiry (
	expire_at timestamptz not null,
	first_id  bigint not null,
	last_id   bigint not null
);
create index expiry_at on readpast.expiry (expire_at);

-- ---- hints: these are the tables tick, cursor, recheck and waiter. An administrator
-- may truncate them at any time, but only all four in one statement. If only `recheck`
-- were truncated, the sweep would not look at the ranges that were listed there. If
-- all four are truncated, no job is lost: claims start at the beginning of each lane
-- again, and the next sweep scans the whole ready line once. Below, jobs "before" a
-- number are the jobs with a smaller `seq`, and jobs "past" a number are the jobs with
-- a larger `seq`.

-- Cursors: places in a lane where claims start, so that they do not read the jobs that
-- earlier claims took, see claims_start(). A claim appends a cursor. The cursor's
-- `head` is the `seq` of the first job that the claim took. A transaction that is still
-- open when the cursor is made may add jobs before the cursor. So claims start at the
-- head of a new cursor only when the cursor is cursor_age() old. Until then claims
-- start at the larger of two numbers:
--   the `settled` of the new cursor,
--   the `head` of the newest cursor that is at least cursor_age() old.
-- settled: nearly all transactions that drew a smaller number of the ready line than
-- this have ended.
-- drawn: the last number that had been drawn when the cursor was made.
-- next_xid: a transaction id. Nearly all transactions that drew numbers up to `drawn`
-- have smaller ids. Once the transactions with smaller ids have ended, the next cursor
-- of the lane can get a `settled` of up to `drawn` + 1.
-- visit_at: after this time a sweep visits the cursor, which means that it looks at the
-- jobs up to `head` that no sweep has seen yet.
-- low: at most `head` until a sweep has visited the cursor, and `head` + 1 after that.
-- So the rows with low <= head are the work list of the sweep. low_water() computes
-- from the column `low` how far the sweep has come in a lane.
-- Lanes 0 and -1 have no jobs. The sweep keeps notes in their rows, where `head` is a
-- time, in microseconds since 1970.
--   lane 0: all jobs whose run_at is before this time have been moved by a sweep.
--   lane -1: no row of the work list has an earlier visit_at than this time. If there
--     is no row of lane -1, the hints were truncated.
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

-- Rechecks: ranges of a lane that the sweep has to look at again. Jobs may appear in
-- such a range after the cursors of the lane have passed it, and claims do not find
-- these jobs. A range goes from the number `first` to the number `last`. If the range
-- has no end, `last` is line_end(). If `waits_for` is null, the next sweep looks at
-- the range. Otherwise a sweep does so after the transaction with the id `waits_for`
-- has ended.
create table readpast.recheck (
	id        bigint primary key generated always as identity,
	lane_id   bigint not null,
	first     bigint not null,
	last      bigint not null,
	waits_for xid8
);
create index recheck_lane on readpast.recheck (lane_id);

-- Ticks. They show a sweep which numbers of the ready line an open transaction may have
-- drawn. A sweep adds a tick each second. All transactions that drew numbers up to
-- `seq` have smaller ids than `next_xid`, so a transaction with a larger id drew only
-- numbers after `seq`. The idea and the name are from PgQ. The table is unlogged,
-- because the loss of ticks in a crash does no harm.
-- seq: the last number that was drawn.
-- next_xid: a transaction id that was read after `seq`.
-- read_at: the time just before `seq` was read.
-- made_at: the time just after `next_xid` was read.
create unlogged table readpast.tick (
	next_xid xid8 primary key,
	seq      bigint not null,
	read_at  timestamptz not null,
	made_at  timestamptz not null
);

-- An open transaction, and the range of `seq` numbers that its jobs may have, see
-- open_ranges().
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
	extra        readpast.extra,
	group_key    text collate "C",
	result       bytea
);

create index archive_state
	on readpast.archive (queue_id, state, finished_at, id);

-- The unique keys that stay taken after their jobs are done. A key is taken until the
-- time `until`. Each row is from a job that was enqueued with unique_for. The row
-- stays even if the job itself is not kept.
create table readpast.taken_key (
	queue_id   integer not null,
	unique_key text not null,
	job_id     bigint not null,
	until      timestamptz not null,
	primary key (queue_id, unique_key)
);
create index taken_key_until on readpast.taken_key (until);

-- Counts the kept jobs in the archive by queue and state. The count is the sum of
-- `change` over all rows of a queue and state. Each transaction that changes the
-- archive appends rows here. So the count is exact, and two such transactions do not
-- wait for each other. The sweep replaces rows by their sum. No statement looks up a
-- single row, so the table has no key. Done jobs with a keep_ms of their own are
-- counted as state 14, because the queue's setting does not decide when they are
-- deleted.
create table readpast.kept_count (
	queue_id integer not null,
	state    integer not null,
	change   bigint not null
);
create index kept_count_of on readpast.kept_count (queue_id, state);
alter table readpast.kept_count replica identity full;

-- Workers, and clients in SQL that have a worker name.
-- kinds: a JSON array of the kinds for which the worker has handlers. Each element is a
-- text 'queue/kind'. The text 'queue/' means all other kinds of that queue.
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

-- Waiters: workers that wait for a notification, each until the time `until`. An
-- enqueue into a queue notifies one of the queue's waiters and deletes the row of that
-- waiter. After queue.waiters_until an enqueue does not read this table, because that
-- time is later than the `until` of each waiter of the queue. A waiter sets
-- queue.waiters_until to a minute after its own `until`, so that later waiters rarely
-- need to update the queue's row.
-- worker_id: the worker, or minus the process id of a session that is not a worker.
create table readpast.waiter (
	id        bigint primary key generated always as identity,
	queue_id  integer not null,
	until     timestamptz not null,
	worker_id bigint not null
);
create index waiter_until on readpast.waiter (queue_id, until);
create index waiter_all on readpast.waiter (until);

-- Clients that wait for the end of a job, each until the time `until`. The transaction
-- that ends the job notifies them on the channel `readpast.job.PID`. PID is the
-- process id of the client's session on the server. A client that ends a job reads this
-- table only before the time queue.job_waiters_until (null: never), because most queues
-- have no waiting clients. A waiting client sets this time a minute later than its own
-- `until`, so that clients that wait one after the other rarely update the queue's row.
-- The table is unlogged, because no harm is done if its rows are lost. A client that
-- gets no notification checks its job at growing intervals, and a client that lost its
-- connection registers again.
create unlogged table readpast.job_waiter (
	job_id bigint not null,
	pid    integer not null,
	until  timestamptz not null,
	primary key (job_id, pid)
);

-- How many jobs of a queue were done, how many attempts failed, and how many jobs died,
-- in each of the last seconds. Second 0 stands for all earlier time: the sweep adds up
-- the rows of old seconds there. The command `stats` shows rates and totals. Each client
-- appends rows of its own, so two clients that finish jobs in the same second do not wait
-- for each other. A reader adds up the rows.
create table readpast.tally (
	second   bigint not null,
	queue_id integer not null,
	done     bigint not null default 0,
	failed   bigint not null default 0,
	dead     bigint not null default 0
);
create index tally_second on readpast.tally (second);

-- Schedules. A schedule puts a job into its queue at each time that its spec names.
-- Each time that it does so is called a fire.
-- spec: the times, as the user wrote them.
-- sets: the spec in parsed form, an array of eight numbers.
--   1 to 5: bit sets of the minutes, hours, days of the month, months and weekdays.
--   6: 1 if a day matches when it is in the set of days or in the set of weekdays. 0
--     if a day matches only when it is in both sets.
--   7: says what happens at a local time that occurs twice, because clocks were set
--     back. 1: the schedule fires both times. 0: it fires only the first time.
--   8: the length of D in milliseconds, if the spec is `every D`. Otherwise 0.
-- anchor: the time from which `every D` is counted.
-- missed: what happens for times that passed while no client fired the schedule.
-- 0: one job for all these times. 1: a job for each time. 2: no job.
-- overlap: 1 if no new job is enqueued while a job of this schedule is live.
-- next_at: the time of the next fire. The transaction that enqueues the job of this
-- fire also sets next_at to the time of the following fire.
-- retry_at: if the server could not load the time zone, a sweep tries again at this
-- time. Until a sweep can load the zone, next_at does not change. If last_at is the same
-- time as next_at, the schedule has already fired for that time.
-- last_at: the time of the last fire.
-- last_job_id: the job of the last fire. Null: the last fire has no job.
-- last_error: why the last fire has no job, or why the time of the next fire could not
-- be computed.
-- standby: not null if `readpast copy` has paused the schedule, because it copies or
-- moves the schedule's queue. 'leaving': this database is the source of a move.
-- 'copied' or 'moved', and the name of the source: this database is the target. To each
-- of these texts, ' paused' is added if the schedule was already paused before the
-- copy, and ' and paused' is added if a user has paused it after the copy began.
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
	retry_at    timestamptz,
	last_at     timestamptz,
	last_job_id bigint,
	last_error  text,
	paused_at   timestamptz,
	created_at  timestamptz not null,
	standby     text
);

create index schedule_due on readpast.schedule (coalesce(retry_at, next_at))
	where paused_at is null;

-- Tokens of the HTTP server. key: the part of a token that names it. hash: SHA-256 of
-- the whole token. scopes: a JSON array of texts such as "work:mail".
create table readpast.token (
	name       text primary key,
	key        text not null unique,
	hash       bytea not null,
	scopes     text not null,
	created_at timestamptz not null
);

-- Answers to HTTP requests that have an idempotency key. name: SHA-256 of the token,
-- the queue and the key. hash: SHA-256 of the request. until: the answer is deleted
-- after this time.
create table readpast.answer (
	name   text primary key,
	hash   bytea not null,
	answer text not null,
	until  timestamptz not null
);

create index answer_until on readpast.answer (until);

-- If the user creates a publication `for all tables`, the server refuses updates and
-- deletes of each table that has neither a primary key nor a replica identity. These
-- three tables have no primary key. The replica identity `full` costs little, because
-- their rows are small and few of them are deleted.
alter table readpast.lane replica identity full;
alter table readpast.tally replica identity full;
alter table readpast.expiry replica identity full;

insert into readpast.meta (name, value)
values ('schema', '1'), ('build', ':build'),
       ('installed_at', clock_timestamp()::text);
