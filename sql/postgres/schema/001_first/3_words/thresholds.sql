-- thresholds: the times and numbers by which routines decide, each with its reason. When
-- the planner plans a statement, once per session, it replaces the call by the value.
-- One threshold is not here: the lock_timeout of take_over(), 50 ms, is a setting of
-- that routine.
-- Result: the threshold.
-- Locks: none.

-- ---- claims and cursors

-- How often a claim moves its lane's cursor. If it did so more often, the sweep
-- would have more rows to delete. If it did so more rarely, claims would scan over
-- more jobs that others have just taken.
create function readpast.cursor_every() returns interval
language sql immutable
as $body$
select interval '20 milliseconds'
$body$;

-- Claims start at a cursor of this age, even if some transactions that were open when it
-- was made are still open. Nearly every transaction that drew a number commits within
-- this time, so its job is claimed in its place. A job that is committed later is found
-- by the sweep only, one or two seconds later.
create function readpast.cursor_age() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- For how long a transaction is young, and may draw numbers of the ready line without
-- more ado. If it draws one later, it adds a row to `recheck`, which becomes visible
-- together with its jobs. If this time were shorter, there would be more such rows. If it
-- were longer, the sweep would have to wait for longer until it knows which numbers an
-- open transaction may have.
create function readpast.young_age() returns interval
language sql immutable
as $body$
select interval '100 milliseconds'
$body$;

-- The end of a range that has no end: larger than any number of the ready line that
-- will be drawn. It is one less than the largest bigint, so that one can be added
-- to it.
create function readpast.line_end() returns bigint
language sql immutable
as $body$
select 9223372036854775806
$body$;

-- ---- enqueue

-- How long an enqueue that replaces a job waits if the job's row is locked. A sweep
-- releases the row within milliseconds, and so does a claim that commits at once. The
-- enqueue must not wait for a claim that stays open: the job counts as running then.
create function readpast.lock_patience() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- How often that enqueue tries to lock the row while it waits. It cannot wait in the
-- server: `skip locked` does not wait at all, and a lock without it waits until the
-- other transaction ends.
create function readpast.lock_retry() returns interval
language sql immutable
as $body$
select interval '5 milliseconds'
$body$;

-- ---- the sweep

-- How old the newest tick is when a sweep is needed. Workers ask once a second, at
-- different times. A whole second here would give a sweep only every two seconds,
-- and a much smaller value two sweeps in each second.
create function readpast.sweep_every() returns interval
language sql immutable
as $body$
select interval '700 milliseconds'
$body$;

-- A sweep that takes longer than this is considered stuck, and another worker begins
-- one beside it. Most sweeps end within a second: they visit cursors for
-- visit_budget(), and each other step ends after `most` jobs.
create function readpast.stuck_sweep_age() returns interval
language sql immutable
as $body$
select interval '3 seconds'
$body$;

-- A tick of this age was made by an earlier sweep, not by the running one, because a
-- sweep visits cursors for at most twice visit_budget(). This is also true if a program
-- calls sweep() more often, because such a sweep makes no new tick.
create function readpast.tick_age() returns interval
language sql immutable
as $body$
select interval '600 milliseconds'
$body$;

-- How old a cursor is when the sweep visits the places before it. By then most jobs
-- that were claimed there are done. If a lease is shorter than this, the visit is
-- earlier.
create function readpast.visit_age() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- How long a sweep visits cursors at the most. The next sweep continues.
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

-- How often the work list is read from its beginning. While a transaction stays open, the
-- recorded beginning of the list cannot move, and each read from there scans all entries
-- that were deleted since. So the other reads start this long ago. An entry that turns up
-- before that place is visited later, by this time at the most.
create function readpast.full_list_every() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- How old the sweep's own cursor is when a sweep that finds no job due moves it. If each
-- sweep moved it, each would write a row. If it moved much more rarely, there would be
-- many dead index entries to scan.
create function readpast.due_age() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- How far the times that an open transaction writes may lie before its own beginning, as
-- the sweep assumes. A transaction may read the clock a moment before it gets its id,
-- and the clock may be set back a little.
create function readpast.settled_margin() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- ---- workers and waiters

-- A worker that was seen within this time is considered alive. A busy worker
-- sends six heartbeats in it, an idle one three.
create function readpast.seen_age() returns interval
language sql immutable
as $body$
select interval '30 seconds'
$body$;

-- How often a SQL client that claims under a name updates `seen_at` of its worker's
-- row, like a worker's heartbeat. Not each claim does it, which saves writes.
create function readpast.heartbeat_every() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- How often one of the waiters asks whether a sweep is needed, all waiters taken
-- together. So one of them asks soon after the worker that sweeps has ended, and the
-- server gets 20 short queries a second however many workers wait.
create function readpast.ask_every() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- Up to this many waiters share that interval. If there are more, they ask more often
-- than that together, so that each waiter still asks at least every 12 s. If all waiters
-- but one go away, that one takes over within 12 s.
create function readpast.most_askers() returns integer
language sql immutable
as $body$
select 200
$body$;

-- How many rows of `waiter` are counted to find out how many waiters there are. A worker
-- has a row for each of its queues.
create function readpast.most_waiter_rows() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- How long a sweep looks for queues with ready jobs and a waiter at the most. Enqueues
-- and claims notify waiters; the sweep repeats the few notifications that reached no
-- worker.
create function readpast.rouse_budget() returns interval
language sql immutable
as $body$
select interval '10 milliseconds'
$body$;

-- How much later queue.waiters_until is than the time in the waiter's own row, so that
-- the queue's row, which each enqueue reads, is rarely updated.
create function readpast.waiters_margin() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- A client that waits for a job is registered for this long, and registers again after
-- a third of it (RENEW_MS in lib/db/postgres/job_wait.c). A client that was killed is
-- notified in vain for this long.
create function readpast.job_waiter_age() returns interval
language sql immutable
as $body$
select interval '90 seconds'
$body$;

-- wait() looks at a job after pauses that grow up to this: half of it is how late it
-- notices the end of a job that took long.
create function readpast.wait_pause() returns interval
language sql immutable
as $body$
select interval '250 milliseconds'
$body$;

-- wait() waits no longer than this. It holds a snapshot meanwhile, and a claim scans the
-- entries of jobs that died since.
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

-- ---- what is forgotten

-- The row of a worker is deleted when the worker was not seen for this long. Until then
-- people can look up which worker had a job that died.
create function readpast.worker_age() returns interval
language sql immutable
as $body$
select interval '1 hour'
$body$;

-- For how long tallies are kept. The doctor reads those of the last minute.
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

-- How many failed attempts are recorded with a job, the last ones, so that its row
-- stays small.
create function readpast.most_failures() returns integer
language sql immutable
as $body$
select 10
$body$;

-- ---- questions

-- How many jobs probe() reads of each lane, and how many scheduled ones. The first job that
-- becomes due or expires is nearly always among them, and the call stays short.
create function readpast.probe_most() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- How many jobs of each lane held_by() reads. This is many times what a worker can hold,
-- so its jobs are found among those of others, and the cost is bounded.
create function readpast.held_scan() returns integer
language sql immutable
as $body$
select 100000
$body$;

-- How many jobs are read to count up to `most` jobs of a state: a tenth more, because
-- some of the jobs in the ready line are running and do not count as ready.
create function readpast.scan_most(most bigint) returns bigint
language sql immutable
as $body$
select most operator(pg_catalog.+) (most operator(pg_catalog./) 10)
       operator(pg_catalog.+) 1
$body$;

-- How many jobs are read of each further lane, after a lane that has more jobs than were
-- read. By then it is known that there are many ready jobs, and running ones are at the
-- front of their lane.
create function readpast.scan_least() returns bigint
language sql immutable
as $body$
select 100::bigint
$body$;

-- ---- schedules

-- A fire that is later than this was missed: nobody ran. `missed` of the schedule says
-- what becomes of it. The same as MISSED_MS in lib/schedule_fire.c.
create function readpast.missed_age() returns interval
language sql immutable
as $body$
select interval '60 seconds'
$body$;

-- Missed instants are counted up to this number, and a schedule that fires each of them
-- fires no more than that. The same as MOST_MISSED in lib/schedule_fire.c.
create function readpast.most_missed() returns integer
language sql immutable
as $body$
select 1000
$body$;
