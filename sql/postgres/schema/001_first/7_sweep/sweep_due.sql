-- sweep_due: find scheduled jobs that are due, in all queues, and make them ready. Each
-- job moves to the end of its lane (a queue, a priority and a class, see lane_of()).
-- The job with the earliest run_at moves first.
-- most: move at most this number of jobs.
-- Rows: the ids of the jobs.
-- Locks: the jobs' rows, for update, the sweep's own cursors (lane 0 of the table
-- `cursor`), and a row of `waiter` for each queue where workers wait. Rows that other
-- transactions have locked are skipped.

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
	before bigint := (select s.last_value from readpast.line s);
	moment timestamptz := clock_timestamp();
	since  timestamptz := readpast.due_since();
	ids    bigint[];
begin
	perform readpast.need_read_committed('a sweep');
	ids := array(
		select j.id
		  from readpast.job j
		 where j.seq is null and j.run_at >= since and j.run_at <= moment
		   and j.run_at < 'infinity'
		   and j.lease_until is null
		 order by j.run_at
		 limit most
		   for update skip locked);
	if ids = '{}' then
		-- No scheduled job has a run_at before `since`, so each sweep searches
		-- from this time. Move this time forward even if no job is due.
		-- Otherwise each sweep would scan the dead index entries of jobs that
		-- became ready, and of jobs whose lease ended.
		if since < moment - readpast.due_age() then
			perform readpast.move_due(since);
		end if;
		return;
	end if;
	return query
	update readpast.job j
	   set lane_id = o.lane_id,
	       seq = o.seq
	  from (select j.id,
	               case when readpast.class_of(j.lane_id) = 1 then j.lane_id
	                    else readpast.with_class(j.lane_id, 2) end as lane_id,
	               nextval('readpast.line') as seq
	          from readpast.job j
	         where j.id = any (ids)
	         order by j.run_at, j.id) o
	 where j.id = o.id
	returning j.id;
	perform readpast.note_moved(ids, before);
	perform readpast.block_barred(array(
		select j.id
		  from readpast.job j
		  join readpast.queue q
		    on q.id = j.queue_id
		   and (q.group_limit > 0 or q.holds_until is not null)
		 where j.id = any (ids) and j.group_key is not null
		 order by j.seq));
	perform readpast.wake(q.queue_id)
	   from (select distinct j.queue_id
	           from readpast.job j
	          where j.id = any (ids)) q;
	perform readpast.move_due(since);
end
$body$;
