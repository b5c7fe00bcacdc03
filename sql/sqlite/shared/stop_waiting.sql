-- stop_waiting: for verbs that accept a verdict although the lease of the job @id is over.
-- If the job was blocked after its lease had ended, and does not stay blocked (@stops is
-- 1), it gets its run_at back, and waits no longer. Then fits is 1 if the job can keep the
-- place of its group until its next attempt: it does not leave the group (@leaves is 0),
-- the group has a free slot (the right of one job to run), and no other job comes before it.

-- if @stops:
select not @leaves
       and q.group_limit >
-- include slots
       and not exists (select 1 from readpast_group_wait
                        where queue_id = q.id and group_key = @group_key
                          and (priority, came, job_id)
                              < (@priority, @came, @id)) as fits,
       1 as blocked
  from readpast_queue q
 where q.id = @queue_id;

-- include real_run_at

-- if @blocked:
delete from readpast_group_wait
 where queue_id = @queue_id and group_key = @group_key
   and priority = @priority and came = @came and job_id = @id;
