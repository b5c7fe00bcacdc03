-- unblock: for verbs that accept a verdict although the lease of the job @id is over. If
-- the job was blocked after its lease ended (@blocked is 1), the job gets its run_at and
-- its slot (its right to run) back, as if it were still running.

-- if @blocked:
insert into readpast_group_slot (queue_id, group_key, job_id)
select queue_id, group_key, id
  from readpast_job
 where id = @id;

-- include real_run_at

-- if @blocked:
delete from readpast_group_wait
 where job_id = @id
   and (queue_id, group_key, priority, came)
       = (select queue_id, group_key, priority, came
            from readpast_job where id = @id);
