-- leave_slot: the job @id gives up its slot of the group @group_key of the queue
-- @queue_id, if it has one. The next job of the group is admitted. These statements must
-- be the last ones of a verb.

delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @id;

-- include admit_next
