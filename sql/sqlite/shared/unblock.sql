-- unblock: if @blocked is 1, a verdict came for the job @id after its lease was over, and
-- meanwhile the job has been blocked. It gets its run_at and its slot back, as if it were
-- still running.

-- if @blocked:
insert into readpast_group_slot (queue_id, group_key, job_id)
select queue_id, extra ->> 'group', id
  from readpast_job
 where id = @id;

-- include real_run_at

-- if @blocked:
delete from readpast_group_wait
 where job_id = @id
   and (queue_id, group_key, priority, came)
       = (select queue_id, extra ->> 'group', priority, came
            from readpast_job where id = @id);
