-- fail: an attempt failed. The job is tried again after the queue's backoff or
-- `delay`, unless its attempts are used up or it failed `for_good`: then it is dead.
-- id, claim_no: as claim() gave them; error: what is noted; delay: null stands for
-- the backoff.
-- Result: its state: `scheduled`, `ready` if there is no delay, or `dead`. RP001,
-- RP002, RP003, RP005: as verdict() says.
-- Locks: the job's row; those of wake() if the job is ready.

create function readpast.fail(
	id bigint, claim_no bigint, error text default 'failed',
	delay interval default null, for_good boolean default false)
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, case when for_good then 2 else 1 end,
                        delay, error)
$body$;
