-- thresholds: the time limits, intervals and counts that other routines use, each with
-- its reason. A call costs nothing when a statement runs, because the planner replaces
-- the call by the value. One such value is not in this file. It is the lock_timeout of
-- 50 ms that lock_limit(), has_other_admissions(), take_over() and fire_due() set.
-- Result: the value.
-- Locks: none.

-- ---- claims and cursors

-- Claims append a cursor (a place where later claims start) to a lane about once in
-- this time. If this time were shorter, the sweep would have to delete more cursors.
-- If it were longer, claims would scan over more jobs that other claims have taken.
create function readpast.cursor_every() returns interval
language sql immutable
as $body$
select interval '20 milliseconds'
$body$;

-- Claims start at the `head` of a cursor, a number of the ready line, only when the
-- cursor is this old. By then nearly all transactions that drew smaller numbers have
-- committed, so their jobs are claimed in the order of the line. If such a transaction
-- commits even later, claims do not find its job. The sweep moves the job to where
-- claims find it, one or two seconds after the commit.
create function readpast.cursor_age() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- An enqueue draws numbers of the ready line for its jobs. If its transaction is older
-- than this, the enqueue must also add a row to `recheck` for the numbers. For the
-- numbers of a younger transaction, open_ranges() computes a range in which they are. If
-- this time were shorter, there would be more rows. If it were longer, the ranges would
-- be larger.
create function readpast.young_age() returns interval
language sql immutable
as $body$
select interval '100 milliseconds'
$body$;

-- If a range of numbers of the ready line has no end, this value stands for its last
-- number. The value is one less than the largest bigint, so that 1 can be added to it.
-- No number that large is ever drawn.
create function readpast.line_end() returns bigint
language sql immutable
as $body$
select 9223372036854775806
$body$;

-- ---- enqueue

-- An enqueue that replaces a job waits for at most this long if the job's row is
-- locked. A sweep, or a claim that commits immediately, holds such a lock for some
-- milliseconds only. If the row stays locked for longer than this, a claim in a
-- transaction that stays open has probably locked it. In this case the job counts as
-- running, and is not replaced.
-- start_group_limit() waits for at most this long if rows of running jobs are locked.
create function readpast.lock_patience() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- The same calls wait this long between two attempts to lock a job's row, until
-- lock_patience() has passed. They lock with `skip locked`, because a plain lock would
-- wait until the transaction that has locked the row ends, however long that takes.
create function readpast.lock_retry() returns interval
language sql immutable
as $body$
select interval '5 milliseconds'
$body$;

-- ---- groups

-- A claim that finds only jobs that may not run now takes them out of the ready line for
-- at most this long. Then it returns no job, and the next claim goes on.
create function readpast.claim_budget() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- A claim that finds some of these jobs looks for other jobs this many times, however
-- long that takes, so it gets past many of them even on a slow server. After that it
-- goes on only if it has found no job, until claim_budget() is over.
create function readpast.claim_looks() returns integer
language sql immutable
as $body$
select 3
$body$;

-- One step that admits jobs of groups handles at most this many jobs or recheck
-- requests. So no call takes long, even if a limit is changed while a million jobs
-- wait.
create function readpast.admit_slice() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- admit_requested() reads at most this many slices of recheck requests to get past
-- requests for groups that other transactions have locked. One transaction may have
-- locked the groups of all requests, and a claim that reads them all would take long.
create function readpast.most_busy_slices() returns integer
language sql immutable
as $body$
select 3
$body$;

-- After so many recheck requests of all queues, a queue whose requests are carried out
-- gets a new cursor, see group_cursor. So a search for the requests of a queue reads about
-- so many requests, at most, that were carried out before.
create function readpast.requests_per_cursor() returns integer
language sql immutable
as $body$
select 100
$body$;

-- The number of advisory locks that all groups share, a power of two. With its default
-- settings, a server can hold more than 6,000 locks.
create function readpast.group_locks() returns integer
language sql immutable
as $body$
select 1024
$body$;

-- A sweep carries out recheck requests of groups for at most this long. The next sweep
-- carries out the rest, and each claim carries out requests of its own queue.
create function readpast.admit_budget() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- A sweep calls admit_requested() at most this many times for each queue. If another
-- transaction has locked a group, the request for this group stays. Without this limit
-- the sweep would find the request again and again until admit_budget() is over.
create function readpast.admit_rounds() returns integer
language sql immutable
as $body$
select 20
$body$;

-- If a rate allows up to this many starts, the table `start` records each start with
-- its own time. If the rate allows more, all starts within a hundredth of rate_ms share
-- one row of the table, so that claims read fewer rows.
create function readpast.exact_starts() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- ---- the sweep

-- A sweep is needed when the newest tick, a row that each sweep adds, is older than
-- this. There should be one sweep a second. Each worker checks the age of the tick once
-- a second. If this time were one second, a check that comes a moment too early would
-- delay the sweep by another second. If it were much shorter than it is, two workers
-- would both sweep within one second.
create function readpast.sweep_every() returns interval
language sql immutable
as $body$
select interval '700 milliseconds'
$body$;

-- A sweep that takes longer than this is considered stuck, and another worker begins a
-- second sweep beside it. Most sweeps end within a second, because the visits of
-- cursors have a time limit, visit_budget(), and each other step changes a limited
-- number of jobs.
create function readpast.stuck_sweep_age() returns interval
language sql immutable
as $body$
select interval '3 seconds'
$body$;

-- wait_for_claims() must use a tick of an earlier sweep. So it uses only ticks that are
-- older than this time. The tick of the running sweep is always younger: a sweep makes
-- its tick first, and then looks at ranges and cursors for at most twice visit_budget(),
-- which is less than this time.
-- needs_tick() is false while the newest tick is younger than this. So a program that
-- calls sweep() without a pause makes only one tick in this time.
create function readpast.tick_age() returns interval
language sql immutable
as $body$
select interval '600 milliseconds'
$body$;

-- The sweep looks at the jobs before a cursor when the cursor is this old. By then most
-- of these jobs are done. If their lease is shorter than this time, the sweep looks at
-- them when the lease ends.
create function readpast.visit_age() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- A sweep first looks at ranges of the table `recheck`, and then visits cursors. Each
-- of these two steps takes at most this long. The next sweep continues with the rest.
create function readpast.visit_budget() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- One statement of the sweep examines at most this many jobs.
create function readpast.visit_slice() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- The work list of the sweep consists of the cursors that it must visit. In each period
-- of this length, one sweep reads the whole list. The other sweeps read only the
-- entries of the last minute, because the whole list can be slow to read: while a
-- transaction stays open, vacuum does not remove the deleted entries, and sweeps cannot
-- skip them. Older entries wait for the next sweep that reads the whole list.
create function readpast.full_list_every() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- A row of lane 0 in `cursor` records a time. Sweeps have made all jobs ready that were
-- scheduled before this time. A sweep that finds no due job updates this row only if
-- the recorded time is longer ago than due_age(). With a smaller value, idle sweeps
-- would write the row more often. With a much larger value, each sweep would scan more
-- dead index entries, because it starts its scan at the recorded time.
create function readpast.due_age() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- settled_time() returns a time that is earlier than each run_at or visit_at that an open
-- transaction writes. To compute it, settled_time() takes the time of a tick that was
-- made before these transactions got their ids, and subtracts this margin. There are two
-- reasons for the margin. A transaction may read the clock shortly before it gets its id.
-- The clock may be set back a little.
create function readpast.settled_margin() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- ---- workers and waiters

-- A worker that has not been seen for this long is considered dead. In this time a live
-- worker sends six heartbeats if it is busy, and three if it is idle.
create function readpast.seen_age() returns interval
language sql immutable
as $body$
select interval '30 seconds'
$body$;

-- A SQL client that passes a worker name to claim() has a row in `worker`. A claim
-- updates `seen_at` in this row only if the old value is longer ago than this. So most
-- claims do not write to the row.
create function readpast.heartbeat_every() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- All waiters (workers that wait for a notification) together check once in this time
-- whether a sweep is needed. So if the worker that sweeps has died, a waiter soon
-- finds that out. The server gets about 20 of these short queries a second, however
-- many workers wait.
create function readpast.ask_every() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- The time between two checks of one waiter (see ask_every()) is ask_every() times the
-- number of waiters, varied at random by up to a quarter. At most this many waiters are
-- counted, so each waiter checks at least once in 12.5 seconds. If all other waiters die
-- at the same time, the last waiter finds out within this time that it must sweep.
create function readpast.most_askers() returns integer
language sql immutable
as $body$
select 200
$body$;

-- register_waiter() counts the waiters, which are the different workers in the table
-- `waiter`. The table has a row for each queue of each waiter. At most this many rows
-- are read. If the table has more rows, the count may be too low.
create function readpast.most_waiter_rows() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- At the end of a sweep, notify_waiters() searches for at most this long for queues
-- that have both a ready job and a waiter. A short time is enough, because enqueues and
-- claims have notified nearly all waiters already. The sweep only repeats the few
-- notifications that reached no worker.
create function readpast.rouse_budget() returns interval
language sql immutable
as $body$
select interval '10 milliseconds'
$body$;

-- The waiters_until of a queue must be at least as late as the `until` of each waiter of
-- the queue. If a waiter registers and finds waiters_until too early, the waiter sets
-- waiters_until to its own `until` plus this margin. So waiters that register in the
-- following minute need not update the queue's row. Updates of this row should be rare,
-- because each enqueue reads it.
create function readpast.waiters_margin() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- The registration of a client that waits for a job lasts this long. The client
-- registers again after a third of this time (RENEW_MS in lib/db/postgres/job_wait.c).
-- If the client was killed, the server sends needless notifications until the client's
-- registration ends.
create function readpast.job_waiter_age() returns interval
language sql immutable
as $body$
select interval '90 seconds'
$body$;

-- wait() checks again and again whether its job has ended. This is the first pause
-- between two of these checks. Each later pause is longer by half.
create function readpast.wait_first_pause() returns interval
language sql immutable
as $body$
select interval '5 milliseconds'
$body$;

-- This is the longest pause of wait() between two checks. If a job takes long, wait()
-- notices its end with a delay of half this time, on average.
create function readpast.wait_pause() returns interval
language sql immutable
as $body$
select interval '250 milliseconds'
$body$;

-- wait() refuses a time-out that is longer than this. While wait() waits, it holds a
-- snapshot. Until wait() ends, vacuum cannot remove the index entries of jobs that are
-- deleted, and each claim has to scan over these entries.
create function readpast.wait_most() returns interval
language sql immutable
as $body$
select interval '10 minutes'
$body$;

-- Each time that this many queues have been created, the session that created the last
-- of them plans its statements again. A plan that was made while there were few queues
-- is slow when there are many, see open_own_lane().
create function readpast.replan_every() returns integer
language sql immutable
as $body$
select 64
$body$;

-- ---- what is deleted

-- A worker's row is deleted when the worker has not been seen for this long. Until the
-- row is deleted, people can look up which worker had a job that died.
create function readpast.worker_age() returns interval
language sql immutable
as $body$
select interval '1 hour'
$body$;

-- A session in SQL writes a row of `tally` for this many calls in each second. It adds up
-- the others, so that a session that ends thousands of jobs writes few rows. So a client
-- that is slower than this is counted exactly, and another one loses the counts of its
-- last second.
create function readpast.counted_at_once() returns integer
language sql immutable
as $body$
select 10
$body$;

-- The rows of `tally` are kept for this long before they are added up, because the
-- command `doctor` reads the rows of the last minute.
create function readpast.tally_age() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- The row of a waiter is kept for this long after its `until`. A worker that still runs
-- registers again or unregisters long before the end of this time.
create function readpast.waiter_age() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- A job's row records at most this many failed attempts. If a job has more failed
-- attempts, only the last ones are recorded, so that the row stays small.
create function readpast.most_failures() returns integer
language sql immutable
as $body$
select 10
$body$;

-- ---- questions

-- probe() reads at most this many jobs of each lane, and at most this many jobs of each
-- queue that are not in the ready line. The limit keeps the call short. The next
-- scheduled job and the next lease that ends are nearly always among the jobs that
-- probe() reads.
create function readpast.probe_most() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- held_by() reads at most this many jobs of each lane to find the jobs that a worker
-- holds. This limits the cost of the call. A worker never holds nearly as many jobs as
-- this, so held_by() finds them even between many jobs of other workers.
create function readpast.held_scan() returns integer
language sql immutable
as $body$
select 100000
$body$;

-- A routine that counts up to `most` jobs of a state reads at most this many jobs. This
-- is a tenth more than `most`, because some of the jobs that are read are in another
-- state and are not counted.
create function readpast.scan_most(most bigint) returns bigint
language sql immutable
as $body$
select most operator(pg_catalog.+) (most operator(pg_catalog./) 10)
       operator(pg_catalog.+) 1
$body$;

-- Jobs are counted one lane (the jobs of a queue that have the same priority and class)
-- at a time. If a lane has scan_most() jobs or more, the queue's ready jobs are too many
-- to count. The later lanes are then read only to count running jobs, which come first
-- in a lane. So only this many jobs of each later lane are read.
create function readpast.scan_least() returns bigint
language sql immutable
as $body$
select 100::bigint
$body$;

-- ---- schedules

-- A fire (the enqueue of a schedule's job) that is later than planned by more than this
-- counts as missed. Clients fire schedules about once a second, so a longer delay means
-- that no client has fired schedules for a while. The setting `missed` of the schedule
-- says what happens with a missed fire. MISSED_MS in lib/schedule_fire.c has the same
-- value.
create function readpast.missed_age() returns interval
language sql immutable
as $body$
select interval '60 seconds'
$body$;

-- Missed fires of a schedule are counted up to this number. If the schedule enqueues a
-- job for each missed fire, it enqueues at most this many jobs. MOST_MISSED in
-- lib/schedule_fire.c has the same value.
create function readpast.most_missed() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- If the server could not load the time zone of a schedule, the schedule is tried
-- again after this time. Such a failure may pass: an upgrade of the time zone package
-- may be under way, or the process may have too many open files. RETRY_MS in
-- lib/schedule_fire.c has the same value.
create function readpast.zone_retry_age() returns interval
language sql immutable
as $body$
select interval '60 seconds'
$body$;

-- Schedules with payloads of up to this many bytes fire together in one statement. The
-- limit bounds the memory that the server needs for these payloads.
create function readpast.small_payload() returns integer
language sql immutable
as $body$
select 2000
$body$;
