-- stop_waiting: for verbs that accept a verdict although the lease of the job @id is over.
-- If the job was blocked after its lease had ended, and waits no longer (@blocked is 1),
-- it gets its run_at back. It has no slot (no right to run).

-- include real_run_at

-- if @blocked:
delete from readpast_group_wait
 where job_id = @id
   and (queue_id, group_key, priority, came)
       = (select queue_id, group_key, priority, came
            from readpast_job where id = @id);
