-- real_run_at: if the job @id is blocked (@blocked is 1), give its row its real run_at.

-- if @blocked:
update readpast_job as j
   set run_at =
-- include run_at
 where id = @id;
