-- thresholds: the times and numbers by which routines decide, each with its reason. The
-- planner replaces a call by the value when it plans a statement, once per session.
-- Result: the threshold.
-- Locks: none.
--
-- One is not here: the lock_timeout of take_over(), 50 ms, is a setting of that routine.

-- ---- claims and cursors

-- A claim moves its lane's cursor this often. More often: more rows for the sweep to
-- delete. More rarely: claims scan over jobs that others have just taken.
create function readpast.cursor_every() returns interval
language sql immutable
as $body$
select interval '20 milliseconds'
$body$;

-- Claims start at a cursor that is this old, even if transactions that were open when it
-- was made still are. Nearly every transaction that drew a number commits within this
-- time, and its job is claimed in its place. A job that commits later is found only by
-- the sweep, one or two seconds later.
create function readpast.cursor_age() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- A transaction is young, and may simply draw numbers of the ready line, for this long.
-- If it draws later it adds a row to `recheck`, which becomes visible together with its
-- jobs. Shorter: more such rows. Longer: the sweep has to wait for longer before it knows
-- which numbers an open transaction may have.
create function readpast.young_age() returns interval
language sql immutable
as $body$
select interval '100 milliseconds'
$body$;

-- Larger than any number of the ready line that is drawn: a range up to here has no
-- end. One less than the largest bigint, so that one may be added to it.
create function readpast.line_end() returns bigint
language sql immutable
as $body$
select 9223372036854775806
$body$;

-- ---- enqueue

-- An enqueue that replaces a job waits for this long if the job's row is locked: a sweep
-- releases it within milliseconds, and so does a claim that commits at once. If a claim
-- stays open, the caller must not wait for it: the job counts as running.
create function readpast.lock_patience() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- It tries again this often. `skip locked` does not wait at all, and a lock that waits
-- does so for as long as the other transaction stays open.
create function readpast.lock_retry() returns interval
language sql immutable
as $body$
select interval '5 milliseconds'
$body$;

-- ---- the sweep

-- A sweep is needed when the newest tick is this old. Workers ask once a second, at
-- different times. With a whole second here there would be a sweep only every two
-- seconds; with much less there would be two in each second.
create function readpast.sweep_every() returns interval
language sql immutable
as $body$
select interval '700 milliseconds'
$body$;

-- A sweep that takes longer than this is taken for stuck, and another worker begins one
-- beside it. Most end within a second: visits end after visit_budget(), the other steps
-- after `most` jobs.
create function readpast.stuck_sweep_age() returns interval
language sql immutable
as $body$
select interval '3 seconds'
$body$;

-- A tick that is this old was made by an earlier sweep, not by the one that is running:
-- visits end within twice visit_budget(). A program that calls sweep() more often than
-- this does not make a tick each time, so the same holds for its ticks.
create function readpast.tick_age() returns interval
language sql immutable
as $body$
select interval '600 milliseconds'
$body$;

-- The sweep visits the places before a cursor when the cursor is this old: by then most
-- jobs that were claimed there are done. It is earlier if a lease is shorter.
create function readpast.visit_age() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- A sweep visits cursors for at most this long; the next sweep goes on.
create function readpast.visit_budget() returns interval
language sql immutable
as $body$
select interval '200 milliseconds'
$body$;

-- One statement of the sweep examines this many jobs.
create function readpast.visit_slice() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- While a transaction stays open, the beginning of the work list cannot move, and each
-- read from there scans all entries that were deleted since. So the list is read from its
-- beginning only this often, and otherwise from this long ago. An entry that turns up
-- before that place is visited later by this time at the most.
create function readpast.full_list_every() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- A sweep that finds no job due moves its own cursor when the cursor is this old: moving
-- it each time would write a row per sweep; moving it too rarely would leave many dead
-- index entries to scan.
create function readpast.due_age() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- A transaction may read the clock a moment before it gets its id, and the clock may be
-- set back a little. So the sweep assumes that an open transaction may write times up to
-- this much before its own beginning.
create function readpast.settled_margin() returns interval
language sql immutable
as $body$
select interval '1 second'
$body$;

-- ---- workers and waiters

-- A worker is alive if it was seen within this time: six heartbeats of a busy
-- worker, three of an idle one.
create function readpast.seen_age() returns interval
language sql immutable
as $body$
select interval '30 seconds'
$body$;

-- A client in SQL that claims under a name updates `seen_at` of its worker's row this
-- often, like a worker's heartbeat; not at each claim, to save the write.
create function readpast.heartbeat_every() returns interval
language sql immutable
as $body$
select interval '5 seconds'
$body$;

-- All waiters together ask this often whether a sweep is needed. So one of them asks soon
-- after the worker that sweeps has ended, and the server gets 20 short queries a second
-- however many workers wait.
create function readpast.ask_every() returns interval
language sql immutable
as $body$
select interval '50 milliseconds'
$body$;

-- At most this many waiters share that interval; if there are more, they ask more often
-- together. So each of them asks at least every 12 s, and the last waiter that is left of
-- many takes over within that time.
create function readpast.most_askers() returns integer
language sql immutable
as $body$
select 200
$body$;

-- To find out how many waiters there are, up to this many rows of `waiter` are counted: a
-- worker has one for each of its queues.
create function readpast.most_waiter_rows() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- A sweep looks for queues with ready jobs and a waiter for at most this long. Enqueues
-- and claims notify; this is for the few notifications that reached no worker.
create function readpast.rouse_budget() returns interval
language sql immutable
as $body$
select interval '10 milliseconds'
$body$;

-- queue.asleep_until is set this much later than the waiter's own row says, so that the
-- queue's row, which each enqueue reads, is rarely updated.
create function readpast.asleep_margin() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- A session that creates queues plans its statements again after this many of them.
create function readpast.replan_every() returns integer
language sql immutable
as $body$
select 64
$body$;

-- ---- what is forgotten

-- The row of a worker that was not seen for this long is deleted. Until then people can
-- look up the worker of a job that died.
create function readpast.worker_age() returns interval
language sql immutable
as $body$
select interval '1 hour'
$body$;

-- Tallies are kept for this long: the doctor reads those of the last minute.
create function readpast.tally_age() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- The row of a waiter is deleted when its time has been over for this long. A live worker
-- has registered again or unregistered long before.
create function readpast.waiter_age() returns interval
language sql immutable
as $body$
select interval '1 minute'
$body$;

-- A job keeps a note of this many failed attempts, the last ones, so that its row stays
-- small.
create function readpast.most_failures() returns integer
language sql immutable
as $body$
select 10
$body$;

-- ---- questions

-- look() reads this many jobs of each lane, and of the scheduled ones. The first job to be
-- due or to expire is nearly always among them, and a probe stays short.
create function readpast.probe_most() returns integer
language sql immutable
as $body$
select 1000
$body$;

-- held_by() reads this many jobs of each lane: many times what a worker can hold, so that
-- its jobs are found among those of others, but bounded.
create function readpast.held_scan() returns integer
language sql immutable
as $body$
select 100000
$body$;

-- To count up to `most` jobs of a state this many are read: a tenth more, because some of
-- the jobs in the ready line are held and do not count as ready.
create function readpast.scan_most(most bigint) returns bigint
language sql immutable
as $body$
select most operator(pg_catalog.+) (most operator(pg_catalog./) 10)
       operator(pg_catalog.+) 1
$body$;

-- After a lane with more jobs than that, only this many are read of each further lane: the
-- ready jobs are known to be many, and held ones are at the front.
create function readpast.scan_least() returns bigint
language sql immutable
as $body$
select 100::bigint
$body$;
