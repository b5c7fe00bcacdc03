-- held_by: What a worker holds of some queues, if it claimed that lately: a
-- claim whose answer was lost is known to nobody else.

create function readpast.held_by(worker_id bigint, queues text[])
returns table (id bigint, claim_no bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
#variable_conflict use_column
declare
	lane record;
begin
	for lane in
		select distinct l.lane_id
		  from readpast.queue q
		  join readpast.lane l
		    on l.lane_id between q.id::bigint * 1024
		                     and q.id::bigint * 1024 + 1023
		 where q.name = any (queues)
	loop
		return query
		select h.id, h.claim_no
		  from (select j.id, j.claim_no, j.worker_id, j.lease_until
		          from readpast.job j
		         where j.lane_id = lane.lane_id
		           and j.seq >= readpast.low_of(lane.lane_id)
		         order by j.lane_id, j.seq
		         limit 100000) h
		 where h.lease_until is not null and h.worker_id = held_by.worker_id;
	end loop;
end
$body$;
