-- waits_after: return the waiting jobs of a group that come after a given place in the
-- order of the group. The search starts at this place. So it does not read the dead
-- index entries before it, which vacuum cannot remove while an old snapshot is open. If a
-- job of a better priority waits, the search starts at the first job of the group.
-- queue_id, group_key: the group.
-- after_priority, after_came: the place. -1 and 0: before all jobs of the group.
-- Rows: the jobs in the order of the group. `place` is the ctid of the job's row in
--   group_wait. The function is `stable` and returns a table, so that the planner can
--   inline it into the calling query.
-- Locks: none.

create function readpast.waits_after(queue_id integer, group_key text,
                                     after_priority integer, after_came bigint)
returns table (job_id bigint, place tid, priority integer, came bigint)
language sql stable
as $body$
select w.job_id, w.ctid, w.priority, w.came
  from readpast.group_wait w
 where w.queue_id operator(pg_catalog.=) waits_after.queue_id
   and w.group_key operator(pg_catalog.=) waits_after.group_key
   and (w.priority, w.came) operator(pg_catalog.>) (
           case when exists (
                    select 1 from readpast.group_wait u
                     where u.queue_id operator(pg_catalog.=) waits_after.queue_id
                       and u.group_key operator(pg_catalog.=) waits_after.group_key
                       and u.priority operator(pg_catalog.<) waits_after.after_priority)
                then -1 else waits_after.after_priority end,
           waits_after.after_came)
 order by w.queue_id, w.group_key, w.priority, w.came
$body$;
