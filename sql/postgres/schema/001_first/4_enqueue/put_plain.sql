-- put_plain: insert one job with a payload and a kind and nothing else, where no worker
-- waits: half the price of put_one(), which does what is rare. Each expression and each
-- look at a table counts here. Above READ COMMITTED there is no moment, and nothing is
-- inserted here.

create function readpast.put_plain(queue text, kind text, payload bytea)
returns bigint
language plpgsql volatile as $body$
declare
	moment timestamp with time zone :=
		case when pg_catalog.pg_current_xact_id() is not null
		          and pg_catalog.current_setting('transaction_isolation')
		              operator(pg_catalog.=) 'read committed'
		     then pg_catalog.clock_timestamp() end;
	its_id bigint;
begin
	insert into readpast.job (lane_id, run_at, created_at, queue_id,
	                          max_attempts, kind, payload)
	select q.lane_id, moment, moment, q.id, q.max_attempts, put_plain.kind,
	       put_plain.payload
	  from readpast.queue q
	 where q.name operator(pg_catalog.=) put_plain.queue
	   and pg_catalog.octet_length(put_plain.payload)
	       operator(pg_catalog.<=) q.max_payload
	   and q.asleep_until operator(pg_catalog.<=) moment
	returning job.id into its_id;
	if readpast.young() and its_id is not null then
		return its_id;
	elsif its_id is null then
		return readpast.put_one(queue, null, null, null, null, kind, null,
		                        payload);
	end if;
	perform readpast.note_late(j.lane_id, j.seq)
	   from readpast.job j
	  where j.id operator(pg_catalog.=) its_id;
	return its_id;
end
$body$;
