-- waits_since: return the time at which a job that waits for its group became due.
-- j: the job's row.
-- Result: the time. Null: the job does not wait.
-- Locks: none.

create function readpast.waits_since(j readpast.job) returns timestamptz
language sql stable
as $body$
select w.run_at
  from readpast.group_wait w
 where w.queue_id operator(pg_catalog.=) (j).queue_id
   and w.group_key operator(pg_catalog.=) (j).group_key
   and w.priority operator(pg_catalog.=) readpast.priority_of((j).lane_id)
   and w.came operator(pg_catalog.=) (j).came
   and w.job_id operator(pg_catalog.=) (j).id
$body$;
