-- leave_group: the job @id leaves the group @group_key of the queue @queue_id. It gives up
-- its slot, if it has one, and the next job of the group is admitted. If @blocked is 1, the
-- job waits, and @priority and @came are its place among the waiting jobs of the group.
-- These statements must be the last ones for a row: only a statement for all rows, which
-- uses :taken, may follow. An `if` before the line that includes this file applies to the
-- first statement, which therefore has no `if` of its own.

delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @id;

-- if @blocked:
delete from readpast_group_wait
 where queue_id = @queue_id and group_key = @group_key
   and priority = @priority and came = @came and job_id = @id;

-- include admit_next
