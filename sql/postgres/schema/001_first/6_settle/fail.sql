-- fail: end an attempt that failed. If the job's attempts are used up, or if `for_good`
-- is true, the job is dead. Otherwise it is tried again later.
-- id, claim_no: the values that claim() returned.
-- error: the error text, which is recorded with the job.
-- delay: how long the job waits. Null: the backoff of the job or of its queue.
-- for_good: true if the job must not be tried again.
-- hold, hold_for: hold the job's 'group' or 'queue' for this long, see hold_verdict().
-- Result: the job's new state: `dead`, `scheduled`, or (if there is no delay) `ready`
-- or `blocked`. It is `blocked` instead of `ready` if a limit of the job's group or a
-- hold keeps it from starting.
-- SQLSTATE RP001, RP002, RP003, RP005: see verdict().
-- Locks: the job's row, and a row of `waiter` if the job is ready and a worker waits.
-- If the job dies, the call also locks the rows that put_dead() locks. If the job has a
-- group, the call also locks the rows that leave_group(), keep_place() or end_attempt()
-- locks.

create function readpast.fail(
	id bigint, claim_no bigint, error text default 'failed',
	delay interval default null, for_good boolean default false,
	hold text default null, hold_for interval default null)
returns text
language sql volatile as $body$
select case when hold is null and hold_for is null
            then readpast.verdict(id, claim_no, case when for_good then 2 else 1 end,
                                  delay, error)
            else readpast.hold_verdict(id, claim_no,
                                       case when for_good then 2 else 1 end,
                                       delay, error, hold, hold_for) end
$body$;
