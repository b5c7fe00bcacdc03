-- erase: delete a job if its claim number is still :claim_no. This means that the job
-- has not changed since the caller read it. If :kept is 1, the job is a kept job.
-- Otherwise it is a live job, and it is deleted only if it is not running.
-- The queue is paused. If the queue has a group limit, no other job of the group is
-- admitted now, because the copy reads the other jobs later, and needs their places. After
-- the pause a sweep examines all groups.

-- answer:
select id, 1 as live, 0 as kept, payload < '' as apart, queue_id,
       group_key, group_key is not null as leaves,
       run_at = 9223372036854775807 as blocked, priority, came
  from readpast_job
 where not :kept and id = :id and claim_no = :claim_no and lease_until is null
union all
select id, 0, 1, payload < '', queue_id, null, 0, 0, 0, 0
  from readpast_archive
 where :kept and id = :id and claim_no = :claim_no;

-- if @live:
delete from readpast_job where id = @id;
-- if @kept:
delete from readpast_archive where id = @id;
-- if @apart:
delete from readpast_payload where id = @id;

-- the rest if @leaves:
delete from readpast_group_wait
 where queue_id = @queue_id and group_key = @group_key
   and priority = @priority and came = @came and job_id = @id;

delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @id;

update readpast_queue
   set group_scan = ''
 where id = @queue_id and group_limit > 0 and group_scan is not '';
