-- admit: admit the blocked job @next_id of the group @group_key of the queue @queue_id.
-- The job gets a slot (the right to run) if @slotted is 1. It goes to the end of its
-- lane (the ready jobs of one queue, priority and class). @next_priority and @next_came
-- were the job's place among the waiting jobs of the group.

delete from readpast_group_wait
 where queue_id = @queue_id and group_key = @group_key
   and priority = @next_priority and came = @next_came and job_id = @next_id;

-- if @slotted:
insert into readpast_group_slot (queue_id, group_key, job_id)
values (@queue_id, @group_key, @next_id);

update readpast_job as n
   set seq =
-- include next_seq
       , run_at = :now, came = iif(@slotted, came, null)
 where id = @next_id;
