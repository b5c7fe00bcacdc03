-- release: give a claimed job back. The attempt is not counted.
-- id, claim_no: the values that claim() returned.
-- delay: how long the job waits before it is ready.
-- Result: the job's new state: `ready`, or `scheduled` if there is a delay. SQLSTATE
-- RP001, RP002, RP003, RP005: see verdict().
-- Locks: the job's row, and a row of `waiter` if a worker waits.

create function readpast.release(
	id bigint, claim_no bigint, delay interval default '0')
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 3, delay, null)
$body$;
