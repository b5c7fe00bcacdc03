-- lock_later: some given jobs may not run now, and leave the ready line. Lock the ready
-- jobs that must leave the line together with them, so that the order of each group is
-- kept: the jobs that have a slot and come after a given job of their group. There are
-- such jobs if the given job was enqueued before the queue got its group limit, or if the
-- limit was lowered.
-- ids: the given jobs, which are still in the ready line.
-- Result: the ids of the later jobs.
-- Locks: the jobs' rows, for update. Rows that other transactions have locked are
-- skipped.

create function readpast.lock_later(ids bigint[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
begin
	return array(
		select l.id
		  from (select distinct on (j.queue_id, j.group_key)
		               j.queue_id, j.group_key,
		               readpast.priority_of(j.lane_id) as priority,
		               coalesce(g.came, readpast.came_in_line(j.lane_id, j.seq)) as came
		          from readpast.job j
		          left join readpast.group_slot g
		            on g.queue_id = j.queue_id and g.group_key = j.group_key
		           and g.job_id = j.id
		         where j.id = any (ids)
		         order by j.queue_id, j.group_key, priority, came) b
		  join readpast.group_slot s
		    on s.queue_id = b.queue_id and s.group_key = b.group_key
		   and (s.priority, s.came) > (b.priority, b.came)
		  join readpast.job l on l.id = s.job_id
		 where l.seq is not null and l.lease_until is null and l.id <> all (ids)
		   for update of l skip locked);
end
$body$;
