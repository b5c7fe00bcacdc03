-- take_slot: if @fits is 1, the job @id gets a slot (the right to run) of the group
-- @group_key of the queue @queue_id. @came is the job's place among the jobs of the
-- group.

-- if @fits:
insert into readpast_group_slot (queue_id, group_key, job_id)
values (@queue_id, @group_key, @id);

-- if @fits:
update readpast_job set came = @came where id = @id;
