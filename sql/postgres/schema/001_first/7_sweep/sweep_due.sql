-- sweep_due: Jobs that are due come into line, at the end of their lane; up to
-- `most` of them.

create function readpast.sweep_due(most integer)
returns table (id bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	its    record;
	ids    bigint[];
	before bigint;
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	for its in select q.id, readpast.due_since(q.id) as since
	             from readpast.queue q loop
		exit when most <= 0;
		ids := array(
			select j.id
			  from readpast.job j
			 where j.queue_id = its.id and j.seq is null
			   and j.run_at >= its.since and j.run_at <= moment
			   and j.lease_until is null
			 order by j.queue_id, j.run_at
			 limit most
			   for update skip locked);
		continue when ids = '{}';
		before := (select s.last_value from readpast.line s);
		return query
		update readpast.job j
		   set lane_id = o.lane_id,
		       seq = o.seq
		  from (select j.id,
		               case when j.lane_id % 4 = 1 then j.lane_id
		                    else readpast.with_class(j.lane_id, 2) end
		               as lane_id,
		               nextval('readpast.line') as seq
		          from readpast.job j
		         where j.id = any (ids)
		         order by j.run_at, j.id) o
		 where j.id = o.id
		returning j.id;
		perform readpast.note_moved(ids, before);
		perform readpast.wake(its.id);
		perform readpast.mark_due(its.id, its.since);
		most := most - cardinality(ids);
	end loop;
end
$body$;
