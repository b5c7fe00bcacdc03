-- leave_group: the job @id leaves the group @group_key of the queue @queue_id. If it had
-- a slot, the next job of the group is admitted. These statements must be the last ones
-- of a verb.

delete from readpast_group_wait where job_id = @id;

delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @id;

-- include admit_next
