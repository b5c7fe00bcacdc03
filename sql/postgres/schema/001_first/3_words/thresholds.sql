-- thresholds: the lengths of time and the numbers that decide something, each with its
-- reason. When the planner plans a statement, once per session, it replaces the call by
-- the value. Only one such value is elsewhere: the lock_timeout of take_over() and
-- fire_due(), 50 ms, is a setting of these routines.
-- Result: the value.
-- Locks: none.

-- ---- claims and cursors

-- How often a claim appends a cursor to its lane. If claims did this more often, the
-- sweep would have more rows to delete. If claims did it more rarely, they would scan
-- over more jobs that others have just taken.
create function readpast.cursor_every() returns interval
language sql immutable
as $body$
select interval '20 milliseconds'
$body$;

-- Claims start at a cursor of this age, even if some transactions that were open when
-- it was made are still open. Nearly every transaction that puts a job into the ready
-- line commits within this time. Then its job is claimed in its place. If the
-- transaction commits later, the sweep finds the job one or two seconds after that.
create function readpast.cursor_age() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- For how long a transaction is young. A young transaction simply draws numbers of the
-- ready line. An older one must also add a row to `recheck`, which becomes visible
-- together with its jobs. If this time were shorter, there would be more such rows. If
-- it were longer, it would take the sweep longer to know which numbers an open
-- transaction may have.
create function readpast.young_age() returns interval
language sql immutable
as $body$
select interval '100 milliseconds'
$body$;

-- The end of a range that has no end. It is larger than any number of the ready line
-- that will be drawn, and one less than the largest bigint, so that 1 can be added to
-- it.
create function readpast.line_end() returns bigint
language sql immutable
as $body$
select 9223372036854775806
$body$;

-- ---- enqueue

-- How long an enqueue that replaces a job waits if the job's row is locked. A sweep
-- releases the row within milliseconds, and so does a claim that commits at once. The
-- enqueue must not wait for a claim that stays open, because the job counts as running
-- then.
create function readpast.lock_patience() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- How often the enqueue above tries to lock the row while it waits. The enqueue cannot
-- wait in the server. `skip locked` does not wait, and a lock without `skip locked`
-- waits until the other transaction ends.
create function readpast.lock_retry() returns interval
language sql immutable
as $body$
select interval '5 milliseconds'
$body$;

-- ---- the sweep

-- How old the newest tick is when a sweep is needed. Each worker checks this once a
-- second, at its own time. With a whole second here there would be a sweep only every
-- two seconds. With a much smaller value there would be two sweeps in each second.
create function readpast.sweep_every() returns interval
language sql immutable
as $body$
select interval '700 milliseconds'
$body$;

-- A sweep that takes longer than this is considered stuck, and another worker begins
-- one beside it. Most sweeps end within a second, because visits of cursors end after
-- visit_budget(), and each other step ends after `most` jobs.
create function readpast.stuck_sweep_age() returns interval
language sql immutable
as $body$
select interval '3 seconds'
$body$;

-- A tick of this age was made by an earlier sweep than the running one, because a sweep
-- visits cursors for at most twice visit_budget(). This is true even if a program calls
-- sweep() more often, because sweep() makes no tick while the newest one is younger
-- than this.
create function readpast.tick_age() returns interval
language sql immutable
as $body$
select interval '600 milliseconds'
$body$;

-- How old a cursor is when the sweep visits the places before it. By then most jobs
-- that were claimed there are done. If their lease is shorter than this, the visit is
-- made when the lease ends.
create function readpast.visit_age() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- For how long one sweep visits cursors at the most. The next sweep continues.
create function readpast.visit_budget() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- How many jobs one statement of the sweep examines.
create function readpast.visit_slice() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- How often the sweep's work list is read from its beginning. While a transaction stays
-- open, the recorded beginning of the list cannot move, and each read from there scans
-- all entries that were deleted since. So the reads in between start this long ago. An
-- entry that appears before that time is visited later, by this time at the most.
create function readpast.full_list_every() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- How old the sweep's own cursor for scheduled jobs is when a sweep that finds no job
-- due moves it. If each sweep moved it, each would write a row. If it moved much more
-- rarely, there would be many dead index entries to scan.
create function readpast.due_age() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- The sweep assumes that an open transaction writes no time that is further than this
-- before its own beginning. Such times are possible, because a transaction may read the
-- clock a moment before it gets its id, and the clock may be set back a little.
create function readpast.settled_margin() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- ---- workers and waiters

-- A worker that was seen within this time is considered alive. In this time a busy
-- worker sends six heartbeats, and an idle one sends three.
create function readpast.seen_age() returns interval
language sql immutable
as $body$
select interval '30 seconds'
$body$;

-- How often a SQL client that claims under a name updates `seen_at` of its worker's
-- row. Claims in between do not update it, which saves writes.
create function readpast.heartbeat_every() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- All waiters together check this often whether a sweep is needed. So the end of the
-- worker that sweeps is noticed soon, and the server gets only 20 short queries a
-- second, however many workers wait.
create function readpast.ask_every() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- The largest number of waiters that share the interval above. If there are more, they
-- check more often together, so that each of them still checks at least every 12 s. If
-- all waiters but one end at once, that one takes over within 12 s.
create function readpast.most_askers() returns integer
language sql immutable
as $body$
select 200
$body$;

-- How many rows of `waiter` are counted to find the number of waiters. A worker has a
-- row for each of its queues.
create function readpast.most_waiter_rows() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- For how long a sweep searches queues for ready jobs and a waiter. Enqueues and claims
-- notify waiters. The sweep only repeats the few notifications that reached no worker.
create function readpast.rouse_budget() returns interval
language sql immutable
as $body$
select interval '10 milliseconds'
$body$;

-- How much later queue.waiters_until is than the time in the waiter's own row. So the
-- queue's row, which each enqueue reads, is rarely updated.
create function readpast.waiters_margin() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- How long the registration of a client that waits for a job lasts. The client
-- registers again after a third of this time (RENEW_MS in lib/db/postgres/job_wait.c).
-- If a client was killed, useless notifications are sent to it for this long.
create function readpast.job_waiter_age() returns interval
language sql immutable
as $body$
select interval '90 seconds'
$body$;

-- The longest pause between two looks of wait() at its job. For a job that took long,
-- wait() notices the end late by half of this time on average.
create function readpast.wait_pause() returns interval
language sql immutable
as $body$
select interval '250 milliseconds'
$body$;

-- The longest time-out of wait(). While wait() waits it holds a snapshot, and each
-- claim scans the dead index entries of all jobs that ended since.
create function readpast.wait_most() returns interval
language sql immutable
as $body$
select interval '10 minutes'
$body$;

-- After it has created this many queues, a session plans its statements again.
create function readpast.replan_every() returns integer
language sql immutable
as $body$
select 64
$body$;

-- ---- what is deleted

-- A worker's row is deleted when the worker was not seen for this long. Until then
-- people can look up which worker had a job that died.
create function readpast.worker_age() returns interval
language sql immutable
as $body$
select interval '1 hour'
$body$;

-- For how long tallies are kept. The doctor reads the tallies of the last minute.
create function readpast.tally_age() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- For how long the row of a waiter is kept after its time has ended. A live worker has
-- registered again or unregistered long before that.
create function readpast.waiter_age() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- How many failed attempts are recorded with a job. Older ones are deleted, so that the
-- row stays small.
create function readpast.most_failures() returns integer
language sql immutable
as $body$
select 10
$body$;

-- ---- questions

-- How many jobs probe() reads of each lane, and how many scheduled ones. The first job
-- that is due and the first lease that ends are nearly always among them, and the call
-- stays short.
create function readpast.probe_most() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- How many jobs of each lane held_by() reads. This bounds the cost. It is many times
-- what a worker can hold, so the routine finds the worker's jobs among those of others.
create function readpast.held_scan() returns integer
language sql immutable
as $body$
select 100000
$body$;

-- How many jobs are read to count up to `most` jobs of a state. This is a tenth more
-- than `most`, because some of the jobs that are read are in another state.
create function readpast.scan_most(most bigint) returns bigint
language sql immutable
as $body$
select most operator(pg_catalog.+) (most operator(pg_catalog./) 10)
       operator(pg_catalog.+) 1
$body$;

-- How many jobs of a lane are read if an earlier lane had more jobs than were read. By
-- then it is known that there are many ready jobs. The running jobs of a lane are at
-- its front, so few reads find them.
create function readpast.scan_least() returns bigint
language sql immutable
as $body$
select 100::bigint
$body$;

-- ---- schedules

-- A fire that is later than this counts as missed, because no client has fired
-- schedules lately. The setting `missed` of the schedule says what happens then.
-- MISSED_MS in lib/schedule_fire.c has the same value.
create function readpast.missed_age() returns interval
language sql immutable
as $body$
select interval '60 seconds'
$body$;

-- Missed instants are counted up to this number. A schedule that fires each missed
-- instant fires at most this number. MOST_MISSED in lib/schedule_fire.c has the same
-- value.
create function readpast.most_missed() returns integer
language sql immutable
as $body$
select 1000
$body$;
