-- sweep_dropped: delete up to :max jobs of a dropped queue. If no job is left, also
-- delete the queue's row in readpast_dropped.

delete from readpast_kept_count where queue_id = :queue_id and jobs = 0;

delete from readpast_dropped
 where queue_id = :queue_id
   and not exists (select 1 from readpast_job
                    where queue_id = :queue_id and seq is not null)
   and not exists (select 1 from readpast_job
                    where queue_id = :queue_id and seq is null
                      and lease_until is null)
   and not exists (select 1 from readpast_archive
                    where queue_id = :queue_id);

-- answer:
select id, 1 as live, 0 as kept, payload < '' as apart
  from readpast_job
 where queue_id = :queue_id and seq is not null
union all
select id, 1, 0, payload < ''
  from readpast_job
 where queue_id = :queue_id and seq is null and lease_until is null
union all
select id, 0, 1, payload < ''
  from readpast_archive
 where queue_id = :queue_id
 limit :max;

-- if @live:
delete from readpast_job where id = @id;
-- if @kept:
delete from readpast_archive where id = @id;
-- if @apart:
delete from readpast_payload where id = @id;
