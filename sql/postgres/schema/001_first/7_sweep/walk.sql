-- walk: look once at what the heads have passed since the last time, for 200 ms at the
-- most, and at the lanes first that are the furthest behind: so each has its turn.
--
-- Claims start at a head. Behind it there may be jobs of transactions that committed
-- late, jobs whose claim was rolled back, and jobs that run. About a second after a head
-- has passed them, the walk takes them out, once: a ready job gets a number at the end
-- of its lane, a job that runs leaves the line for `job_due`, and what is locked, or
-- cannot be seen yet, goes on the list `stray`. So nothing is walked over again, however
-- many dead entries an old snapshot keeps in the index.
--
-- The walk goes no further than a seal that is older than its snapshot, which then knows
-- every open transaction that has put something there.

create function readpast.walk()
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	began  timestamptz := clock_timestamp();
	most   interval := '200 milliseconds';
	open   pg_snapshot := pg_current_snapshot();
	sealed bigint;
	lane   record;
	it     record;
	passed bigint;
	low    bigint;
	ids    bigint[];
begin
	for it in select s.ctid as place, s.* from readpast.stray s loop
		continue when it.waits_for is not null
		              and not pg_visible_in_snapshot(it.waits_for, open);
		perform 1
		   from readpast.stray s
		  where s.ctid = it.place
		    for update skip locked;
		continue when not found;
		return query
		select * from readpast.look_again(it.lane_id, it.first, it.last);
		delete from readpast.stray s where s.ctid = it.place;
	end loop;

	select max(s.seq) into sealed
	  from readpast.seal s
	 where s.next_xid <= pg_snapshot_xmax(open);
	for lane in
		select l.lane_id, readpast.low_of(l.lane_id) as low
		  from (select distinct l.lane_id from readpast.lane l) l
		 order by low
	loop
		select m.head into passed
		  from readpast.mark m
		 where m.lane_id = lane.lane_id and m.head >= lane.low
		   and m.made_at <= began - interval '1 second'
		 order by m.lane_id desc, m.head desc
		 limit 1;
		passed := least(passed, coalesce(sealed, -1) + 1,
		                lane.low + 10000000);
		continue when not found or passed <= lane.low;
		exit when clock_timestamp() > began + most;
		low := passed;
		for it in select * from readpast.left_between(lane.low, passed) loop
			if clock_timestamp() > began + most then
				low := it.low;
				exit;
			end if;
			select array_agg(j.id) into ids
			  from readpast.job j
			 where j.lane_id = lane.lane_id and j.seq >= it.low
			   and j.seq < it.high;
			if ids is not null then
				return query select * from readpast.clear(ids, lane.lane_id,
				                                          it.low, it.high);
			end if;
		end loop;
		perform readpast.wait_for_open(lane.lane_id, lane.low, low, open);
		insert into readpast.walked (lane_id, low)
		values (lane.lane_id, low);
		delete from readpast.walked w
		 where w.ctid = any (array(
		           select w.ctid from readpast.walked w
		            where w.lane_id = lane.lane_id and w.low = lane.low
		              for update skip locked));
		delete from readpast.mark m
		 where m.ctid = any (array(
		           select m.ctid from readpast.mark m
		            where m.lane_id = lane.lane_id and m.head >= lane.low
		              and m.head < low
		              for update skip locked));
		-- Other lanes may be a million behind.
		delete from readpast.ended e
		 where e.ctid = any (array(
		           select e.ctid from readpast.ended e
		            where e.thousand >= lane.low / 1000 - 1000
		              and e.thousand < low / 1000 - 1000
		              for update skip locked));
	end loop;
end
$body$;
