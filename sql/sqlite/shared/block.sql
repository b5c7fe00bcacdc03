-- block: take the job @id of the group @group_key of the queue @queue_id out of the
-- ready line. The job gives up its slot (its right to run), and waits for its group
-- from now on. @came is the job's place among the waiting jobs. The run_at in
-- readpast_group_wait is the time at which the job came, not the time at which it was
-- admitted, so that a copy keeps the order of the group. An `if` before the line that
-- includes this file applies only to the first statement. So the others have their own
-- `if @waits`, and @waits must be 1 if the job is to be blocked.

insert into readpast_group_wait (queue_id, group_key, priority, came, job_id,
                                 run_at)
select queue_id, @group_key, priority, @came, id, min(run_at, @came / 1000)
  from readpast_job
 where id = @id;

-- if @waits:
delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @id;

-- if @waits:
update readpast_job
   set class = iif(class = 1, 1, 2), seq = null, run_at = 9223372036854775807,
       came = @came
 where id = @id;
