-- barred_jobs: of the given ready jobs, return those that may not run now. A job may
-- not run now in each of these cases:
--   The job's group is held.
--   The queue has a group limit, and the job has no slot of its group.
--   The group limit was lowered, and at least group_limit slots come before the job's
--     slot, or a waiting job of the group does. (A completion that did not see the new
--     limit yet may have passed the slot on.)
-- A job can be in the ready line without a slot, for example if its queue had no group
-- limit when the job entered the line, or if the job was copied from another database.
-- ids: the jobs. Jobs that are running or not in the ready line are ignored.
-- Result: the ids of the barred jobs.
-- Locks: none.

create function readpast.barred_jobs(ids bigint[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	-- `offset 0`: see lock_waiting().
	return array(
		with r as materialized (
			select j.id, j.queue_id, j.group_key, q.group_limit,
			       q.group_lowered, q.holds_until > moment as any_held
			  from (select j.id, j.queue_id, j.seq, j.lease_until, j.group_key
			          from readpast.job j
			         where j.id = any (ids)
			        offset 0) j
			  join readpast.queue q
			    on q.id = j.queue_id
			   and (q.group_limit > 0 or q.holds_until > moment)
			 where j.seq is not null
			   and j.lease_until is null and j.group_key is not null)
		select r.id
		  from r
		 where r.group_limit > 0
		       and not exists (
		               select 1 from readpast.group_slot s
		                where s.queue_id = r.queue_id and s.group_key = r.group_key
		                  and s.job_id = r.id)
		    or r.group_lowered
		       and r.id in (
		               select o.id
		                 from (select distinct l.queue_id, l.group_key, l.group_limit
		                         from r l where l.group_lowered) g
		                cross join lateral readpast.slots_over(
		                      g.queue_id, g.group_key, g.group_limit) as o(id))
		    or r.group_lowered
		       and exists (
		               select 1
		                 from readpast.group_slot s
		                 join readpast.group_wait w
		                   on w.queue_id = s.queue_id and w.group_key = s.group_key
		                  and (w.priority, w.came) < (s.priority, s.came)
		                where s.queue_id = r.queue_id and s.group_key = r.group_key
		                  and s.job_id = r.id)
		    or r.any_held and readpast.is_held(r.queue_id, r.group_key));
end
$body$;
