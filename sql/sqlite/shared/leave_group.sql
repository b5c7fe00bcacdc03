-- leave_group: the job @id leaves the group @group_key of the queue @queue_id. If
-- @blocked is 1, the job waits, and @priority and @came are its place among the waiting
-- jobs of the group. These statements must be the last ones of a verb.

-- if @blocked:
delete from readpast_group_wait
 where queue_id = @queue_id and group_key = @group_key
   and priority = @priority and came = @came and job_id = @id;

-- include leave_slot
