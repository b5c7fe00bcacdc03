-- queue_drop: delete a queue and its schedules. The queue's jobs are no longer visible,
-- and sweep_dropped deletes them later. If a job of the queue is running, busy is 1 and
-- nothing is deleted.

-- answer:
select q.id,
       exists (select 1 from readpast_job
                where queue_id = q.id and lease_until is not null) as busy,
       not exists (select 1 from readpast_job
                    where queue_id = q.id and lease_until is not null) as idle
  from readpast_queue q
 where q.name = :queue;

-- if @idle:
insert into readpast_dropped (queue_id) values (@id);
-- if @idle:
delete from readpast_schedule where queue = :queue;
-- if @idle:
delete from readpast_tally where queue_id = @id;
-- if @idle:
delete from readpast_start where queue_id = @id;
-- if @idle:
delete from readpast_queue where id = @id;
