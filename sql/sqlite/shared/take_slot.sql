-- take_slot: if @fits is 1, the job @id gets a slot of the group @group_key of the queue
-- @queue_id. Its place in the group is @came.

-- if @fits:
insert into readpast_group_slot (queue_id, group_key, job_id)
values (@queue_id, @group_key, @id);

-- if @fits:
update readpast_job set came = @came where id = @id;
