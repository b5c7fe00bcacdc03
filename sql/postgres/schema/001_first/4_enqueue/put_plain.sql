-- put_plain: insert one ready job that has only a kind and a payload. If no worker
-- waits for a job of the queue, the routine uses a fast path, which costs half as much
-- as put_one(). In all other cases it calls put_one(). Each expression and each
-- statement makes the fast path slower, so it has as few of them as possible.
-- queue: the name of the queue.
-- kind: the kind, or null.
-- payload: the payload.
-- Result: the job's id. Null: there is no such queue, or the payload is too large.
-- Locks: none on the fast path. Otherwise the rows that put_one() locks.

create function readpast.put_plain(queue text, kind text, payload bytea)
returns bigint
language plpgsql volatile
as $body$
declare
	moment timestamp with time zone;
	its_id bigint;
begin
	-- At isolation levels above READ COMMITTED put_one() must add the job, because
	-- it locks the queue's row. So at these levels `moment` stays null, and the
	-- insert adds no row.
	if pg_catalog.current_setting('transaction_isolation')
	   operator(pg_catalog.=) 'read committed' then
		moment := readpast.take_xid();
	end if;
	insert into readpast.job (lane_id, run_at, created_at, queue_id,
	                          max_attempts, kind, payload)
	select q.lane_id, moment, moment, q.id, q.max_attempts, put_plain.kind,
	       put_plain.payload
	  from readpast.find_queue(put_plain.queue, null,
	                           pg_catalog.octet_length(put_plain.payload)) q
	 where q.waiters_until operator(pg_catalog.<=) moment
	returning job.id into its_id;
	if its_id is null then
		select p.id
		  from readpast.put_one(queue, payload, null, null, null, null, kind,
		                        null, null, false, null, null, null) p
		  into its_id;
	elsif not readpast.young() then
		perform readpast.note_late(j.lane_id, j.seq)
		   from readpast.job j
		  where j.id operator(pg_catalog.=) its_id;
	end if;
	return its_id;
end
$body$;
