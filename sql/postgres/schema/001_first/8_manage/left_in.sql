-- left_in: The ids of a queue's jobs, live and kept, by the indexes alone.

create function readpast.left_in(queue_id integer)
returns table (id bigint, live boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_column
begin
	return query
	select j.id, true
	  from readpast.job j
	 where j.lane_id between left_in.queue_id::bigint * 1024
	                     and left_in.queue_id::bigint * 1024 + 1023
	   and j.seq is not null
	union all
	select j.id, true
	  from readpast.job j
	 where j.queue_id = left_in.queue_id and j.seq is null
	union all
	select a.id, false
	  from readpast.archive a
	 where a.queue_id = left_in.queue_id;
end
$body$;
