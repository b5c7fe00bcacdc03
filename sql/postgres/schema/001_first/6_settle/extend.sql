-- extend: give a job a new lease, which starts now, and record the progress of its
-- handler. A call also counts as a heartbeat of the worker that holds the job, because
-- a client that uses SQL has no other call to make during a long job.
-- id, claim_no: the values that claim() returned.
-- lease: the length of the new lease. Null: the queue's setting, even if the claim had
-- another lease. But if `lease` is null and a progress is given, the call never makes
-- the lease end earlier.
-- progress: a text of at most :most_progress bytes. People can see it, and the next
-- attempt gets it. Null leaves the last progress as it is, and '' deletes it.
-- Result: the job's state, `running`. SQLSTATE RP001 to RP005: see verdict().
-- Locks: the job's row, and the worker's row if the worker was last seen longer ago
-- than heartbeat_every(). If another transaction has locked the worker's row, this row
-- is not changed. Above READ COMMITTED the worker's row is never changed, because at
-- these levels the update could raise a serialization failure.

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
