-- queue_set: change settings of a queue. A parameter that is null leaves its setting as
-- it is. An empty :dead_to removes the setting dead_to.
-- If the queue had no group limit and gets one, each running job that has a group gets
-- a slot, even if the group then uses more slots than the limit. Its place is before the
-- places of the jobs in the line that became ready at the same time (came_in_line.sql).
-- If the group limit changes, the column group_scan is set, so that sweeps examine all
-- groups. If groups may now use more slots than the new limit, the column group_lowered
-- is set to 1. Then claims count the slots of the groups.
-- In the end ready jobs that may not start now are blocked.

insert or ignore into readpast_group_slot (queue_id, group_key, job_id)
select j.queue_id, j.group_key, j.id
  from readpast_queue q
 cross join readpast_job j
 where q.name = :queue and q.group_limit = 0 and :group_limit > 0
   and j.queue_id = q.id and j.lease_until is not null
   and j.group_key is not null;

update readpast_job
   set came = 1000 * run_at - 1000
 where queue_id = (select id from readpast_queue
                    where name = :queue and group_limit = 0 and :group_limit > 0)
   and lease_until is not null and came is null
   and group_key is not null;

delete from readpast_start
 where :rate_count = 0
   and queue_id = (select id from readpast_queue where name = :queue);

update readpast_queue
   set max_attempts   = coalesce(:max_attempts, max_attempts),
       lease_ms       = coalesce(:lease_ms, lease_ms),
       backoff_ms     = coalesce(:backoff_ms, backoff_ms),
       backoff_max_ms = coalesce(:backoff_max_ms, backoff_max_ms),
       priority       = coalesce(:priority, priority),
       keep_done_ms   = coalesce(:keep_done_ms, keep_done_ms),
       keep_dead_ms   = coalesce(:keep_dead_ms, keep_dead_ms),
       max_payload    = coalesce(:max_payload, max_payload),
       timeout_ms     = coalesce(:timeout_ms, timeout_ms),
       dead_to        = nullif(coalesce(:dead_to, dead_to), ''),
       run_limit      = coalesce(:run_limit, run_limit),
       group_scan     = iif(:group_limit <> group_limit, '', group_scan),
       group_lowered  = case when :group_limit is null then group_lowered
                             when :group_limit = 0
                                  or not exists (
                                     select 1 from readpast_group_slot s
                                      where s.queue_id = readpast_queue.id) then 0
                             when group_limit = 0 or :group_limit < group_limit then 1
                             else group_lowered end,
       group_limit    = coalesce(:group_limit, group_limit),
       group_pass     = coalesce(:group_pass, group_pass),
       rate_count     = coalesce(:rate_count, rate_count),
       rate_ms        = coalesce(:rate_ms, rate_ms)
 where name = :queue;

-- include examine_line
