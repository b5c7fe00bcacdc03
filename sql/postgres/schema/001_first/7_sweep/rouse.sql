-- rouse: Where jobs are ready and workers sleep all the same, wake one: the
-- job's transaction began before they lay down, or who was woken for it is
-- dead.

create function readpast.rouse() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $body$
declare
	it     record;
	moment timestamptz := clock_timestamp();
begin
	-- One look after the other: as a join the jobs may come first, all of them.
	for it in
		select distinct q.id, l.lane_id
		  from readpast.sleeper s
		  join readpast.queue q on q.id = s.queue_id
		  join readpast.lane l
		    on l.lane_id between q.id::bigint * 1024
		                     and q.id::bigint * 1024 + 1023
		 where s.until > moment and q.paused_at is null
	loop
		if exists (select 1
		             from readpast.job j
		            where j.lane_id = it.lane_id
		              and j.seq >= readpast.head_of(it.lane_id)
		              and j.lease_until is null)
		then
			perform readpast.wake(it.id);
		end if;
	end loop;
end
$body$;
