-- extend: renew a job's lease, which runs from now, and record the progress of its
-- handler. It is also a heartbeat of the worker that holds the job: while a long job runs,
-- the worker claims nothing.
-- id, claim_no: as claim() gave them; lease: null stands for the queue's, whatever lease
-- the claim asked for, but with progress no lease becomes shorter; progress: text of at
-- most :most_progress bytes, which people see and the next attempt gets; null leaves it as
-- it is, '' deletes it.
-- Result: its state, `running`. RP001 to RP005: as verdict() says.
-- Locks: the job's row; and the worker's row, if it is heartbeat_every() old. It skips
-- that row if another transaction has it locked, and leaves it alone above READ
-- COMMITTED, where an update may raise a serialization failure.

create function readpast.extend(
	id bigint, claim_no bigint, lease interval default null,
	progress text default null)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	state  text := readpast.verdict(id, claim_no, 4, lease, null,
	                                          progress => progress);
begin
	if current_setting('transaction_isolation') = 'read committed' then
		update readpast.worker w
		   set seen_at = moment
		 where w.ctid = (
		           select w.ctid
		             from readpast.worker w
		            where w.id = (select j.worker_id from readpast.job j
		                           where j.id = extend.id)
		              and w.stopped_at is null
		              and w.seen_at < moment - readpast.heartbeat_every()
		              for update skip locked);
	end if;
	return state;
end
$body$;
