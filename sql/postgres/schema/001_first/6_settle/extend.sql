-- extend: renew a job's lease, which runs from now.
-- id, claim_no: as claim() gave them; lease: null stands for the queue's.
-- Result: its state, `running`. RP001, RP002, RP003, RP005: as verdict() says.
-- Locks: the job's row.

create function readpast.extend(
	id bigint, claim_no bigint, lease interval default null)
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 4, lease, null)
$body$;
