-- sweep_dropped: delete up to :max rows of a dropped queue: first its jobs, then the
-- slots and holds of its groups. In the answer, the id of a slot or hold is 0. If this
-- call finds none of these rows, it deletes the queue's row in readpast_dropped.

delete from readpast_kept_count where queue_id = :queue_id and jobs = 0;

delete from readpast_dropped
 where queue_id = :queue_id
   and not exists (select 1 from readpast_job
                    where queue_id = :queue_id and seq is not null)
   and not exists (select 1 from readpast_job
                    where queue_id = :queue_id and seq is null
                      and lease_until is null
                      and run_at < 9223372036854775807)
   and not exists (select 1 from readpast_group_wait
                    where queue_id = :queue_id)
   and not exists (select 1 from readpast_group_slot
                    where queue_id = :queue_id)
   and not exists (select 1 from readpast_group_hold
                    where queue_id = :queue_id)
   and not exists (select 1 from readpast_archive
                    where queue_id = :queue_id);

-- answer:
select id, 1 as live, 0 as kept, payload < '' as apart, 0 as blocked,
       null as group_key, null as slot_of
  from readpast_job
 where queue_id = :queue_id and seq is not null
union all
select id, 1, 0, payload < '', 0, null, null
  from readpast_job
 where queue_id = :queue_id and seq is null and lease_until is null
   and run_at < 9223372036854775807
union all
select j.id, 1, 0, j.payload < '', 1, w.group_key, null
  from readpast_group_wait w
 cross join readpast_job j
 where w.queue_id = :queue_id and j.id = w.job_id
union all
select id, 0, 1, payload < '', 0, null, null
  from readpast_archive
 where queue_id = :queue_id
union all
select 0, 0, 0, 0, 0, group_key, job_id
  from readpast_group_slot
 where queue_id = :queue_id
union all
select 0, 0, 0, 0, 0, group_key, 0
  from readpast_group_hold
 where queue_id = :queue_id
 limit :max;

delete from readpast_group_slot
 where queue_id = :queue_id and group_key = @group_key and job_id = @slot_of;

delete from readpast_group_hold
 where queue_id = :queue_id and group_key = @group_key and @slot_of = 0;

-- if @blocked:
delete from readpast_group_wait
 where queue_id = :queue_id and group_key = @group_key and job_id = @id
   and (priority, came) = (select priority, came from readpast_job
                            where id = @id);

-- if @live:
delete from readpast_job where id = @id;
-- if @kept:
delete from readpast_archive where id = @id;
-- if @apart:
delete from readpast_payload where id = @id;
