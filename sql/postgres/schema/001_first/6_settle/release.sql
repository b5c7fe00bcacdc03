-- release: give a claimed job back. The attempt is not counted.
-- id, claim_no: the values that claim() returned.
-- delay: how long the job waits before it is ready.
-- hold, hold_for: hold the job's 'group' or 'queue' for this long, see hold_verdict().
-- Result: the job's new state: `scheduled`, or (if there is no delay) `ready` or
-- `blocked`. It is `blocked` instead of `ready` if a limit of the job's group or a hold
-- keeps it from starting. SQLSTATE RP001, RP002, RP003, RP005: see verdict().
-- Locks: the job's row, and a row of `waiter` if a worker waits. If the job has a group,
-- the call also locks the rows that keep_place() or end_attempt() locks.

create function readpast.release(
	id bigint, claim_no bigint, delay interval default '0',
	hold text default null, hold_for interval default null)
returns text
language sql volatile as $body$
select case when hold is null and hold_for is null
            then readpast.verdict(id, claim_no, 3, delay, null)
            else readpast.hold_verdict(id, claim_no, 3, delay, null, hold,
                                       hold_for) end
$body$;
