-- real_run_at: if the job @id is blocked (@blocked is 1), replace its run_at of
-- 9223372036854775807 by its real run_at from readpast_group_wait.

-- if @blocked:
update readpast_job as j
   set run_at =
-- include run_at
 where id = @id;
