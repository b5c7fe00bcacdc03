-- real_run_at: if the job @id is blocked (@blocked is 1), give its row its real run_at.

-- if @blocked:
update readpast_job
   set run_at = (select run_at from readpast_group_wait where job_id = @id)
 where id = @id;
