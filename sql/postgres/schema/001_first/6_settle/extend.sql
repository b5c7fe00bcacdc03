-- extend: begin a job's lease again from now, and record the progress of its handler. A
-- call also counts as a heartbeat of the worker that holds the job. Without this rule a
-- client in SQL would send no heartbeats during a long job, because its only other
-- heartbeats are its claims.
-- id, claim_no: the values that claim() returned.
-- lease: the length of the new lease. Null: the queue's setting, even if the claim had
-- another lease.
-- progress: a text of at most :most_progress bytes. People can see it, and the next
-- attempt gets it. Null leaves the last progress as it is, and '' deletes it. If a
-- progress is given and `lease` is null, the old lease stays if it ends later than the
-- new lease would.
-- Result: the job's state, `running`. SQLSTATE RP001 to RP005: see verdict().
-- Locks: the job's row, and the worker's row if the worker was last seen longer ago
-- than heartbeat_every(). If another transaction has locked the worker's row, it is not
-- changed. Above READ COMMITTED the worker's row is never changed, because at these
-- levels the update could raise a serialization failure.

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
