-- release: give a job back; its attempt is not counted.
-- id, claim_no: as claim() gave them; delay: how long it waits.
-- Result: its state: `ready`, or `scheduled` if there is a delay. RP001, RP002,
-- RP003, RP005: as verdict() says.
-- Locks: the job's row; those of wake() if the job is ready.

create function readpast.release(
	id bigint, claim_no bigint, delay interval default '0')
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 3, delay, null)
$body$;
