-- next_waiting: choose the next waiting jobs of each group, which get the slots that
-- other jobs have just freed. The search begins at the number of the job that freed the
-- slot, so it does not read the dead index entries before that job. (After rewind_slots()
-- another job may have the same number.) But if a recheck request of the group is stored,
-- the search begins at the start of the group, because a waiting job may have come before
-- the jobs that have slots, see usable_slots(). If the limit is 1 and the group's next job
-- is locked, no job is chosen. The same is true if the group is held, or if it has no free
-- slot because its limit was lowered. If the limit is larger, locked jobs are skipped, and
-- a recheck request is added for their group.
-- freed: the slots, which this transaction has deleted.
-- Result:
--   ids: the jobs, locked.
--   places, epochs: see admit_jobs().
-- Locks: the jobs' rows. Rows that other transactions have locked are skipped.

create function readpast.next_waiting(freed readpast.group_slot[], out ids bigint[],
                                      out places tid[], out epochs bigint[])
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	skipping   readpast.group_recheck[];
	-- The limit may be lowered between two statements. A job that is chosen by the
	-- earlier limit must not get the epoch of the lower limit.
	known      bigint[];
	must_check boolean; -- true if some of the slots may not be passed on
begin
	select array_agg(q.group_epoch), bool_or(q.group_lowered or readpast.has_requests(q.id))
	  into known, must_check
	  from readpast.queue q
	 where q.id = any (array(select f.queue_id from unnest(freed) f));
	if must_check then
		freed := readpast.usable_slots(freed);
	end if;
	select array_agg(p.job_id), array_agg(p.place),
	       array_agg(case when q.group_epoch = any (known) then q.group_epoch else -1 end),
	       array_agg((0, '0', f.queue_id, f.group_key,
	                  false)::readpast.group_recheck) filter (where p.number > f.n)
	  into ids, places, epochs, skipping
	  from (select f.queue_id, f.group_key, count(*) as n, min(f.priority) as priority,
	               min(f.came) as came
	          from unnest(freed) f
	         group by f.queue_id, f.group_key) f
	  join readpast.queue q on q.id = f.queue_id and q.group_limit > 0
	 cross join lateral (
	       select w.job_id, w.place, w.number
	         from (select w.job_id, w.ctid as place, w.priority, w.came,
	                      row_number() over (order by w.queue_id, w.group_key,
	                                                  w.priority, w.came) as number
	                 from readpast.group_wait w
	                where w.queue_id = f.queue_id and w.group_key = f.group_key
	                  and (w.priority, w.came) >= (
	                          case when exists (
	                                   select 1 from readpast.group_wait u
	                                    where u.queue_id = f.queue_id
	                                      and u.group_key = f.group_key
	                                      and u.priority < f.priority)
	                               then -1 else f.priority end, f.came)
	                order by w.queue_id, w.group_key, w.priority, w.came
	                limit case when q.group_limit = 1 then 1 end) w
	         join readpast.job j on j.id = w.job_id
	        where j.seq is null and j.run_at = 'infinity'
	        order by w.priority, w.came
	        limit f.n
	          for update of j skip locked) p
	 where not (coalesce(q.holds_until > clock_timestamp(), false)
	            and readpast.is_held(f.queue_id, f.group_key));
	if skipping is not null then
		insert into readpast.group_recheck (queue_id, group_key)
		select distinct r.queue_id, r.group_key from unnest(skipping) r;
	end if;
end
$body$;
