-- enqueue_grouped: like enqueue, but at least one of the jobs has a group. The jobs may
-- have different groups. If the queue has a group limit, only as many jobs of a group
-- go into the ready line as the group has free slots. The other jobs of the group wait
-- for a slot.

select
-- include new_jobs
       ,
       q.group_limit,
-- include may_wait
       as is_grouped
  from readpast_queue q
 where q.name = :queue
   and :largest <= q.max_payload
   and (not :with_headers
        or not exists (select 1 from readpast_enqueue_grouped_rows(:rows) r
                        where r.headers is not null
                          and iif(json_valid(r.headers),
                                  json_type(r.headers) <> 'object', true)));

-- include new_terms

-- nth: the number of the job among the jobs of its group in this call, from 1. C counts
-- them (number_groups() in lib/db/sqlite/enqueue.c).
-- blocked: 1 if the group of the job is held, or if the jobs of the group that have a slot,
-- and those that come before this job in the same call, use all slots. If a job waits for
-- the group already, the new job waits behind it.
-- last_came: the `came` of the last job of the same priority that waits for the group, or
-- else of the newest job that has a slot. Job `nth` of the group gets a number that is
-- larger by nth, or more, so that it comes after that job, even if the clock was set back.
-- The insert calls no function, for the reason that enqueue.sql gives.
-- answer batch:
with place as materialized (
  select r.number as number,
         @is_grouped and r.group_key is not null
         and r.nth > case
               when q.holds_until > :now
                    and exists (select 1 from readpast_group_hold
                                 where queue_id = q.id
                                   and group_key = r.group_key
                                   and until > :now) then 0
               when q.group_limit = 0 then 9223372036854775807
               when r.nth > q.group_limit
                    or exists (select 1 from readpast_group_wait
                                where queue_id = q.id
                                  and group_key = r.group_key) then 0
               else q.group_limit - (select count(*) from readpast_group_slot
                                      where queue_id = q.id
                                        and group_key = r.group_key)
             end as blocked,
         iif(@is_grouped,
             coalesce((select came from readpast_group_wait
                        where queue_id = q.id and group_key = r.group_key
                          and priority = @priority
                        order by came desc limit 1),
                      (select k.came
                         from readpast_group_slot s
                        cross join readpast_job k
                        where s.queue_id = q.id and s.group_key = r.group_key
                          and k.id = s.job_id
                        order by s.job_id desc limit 1), 0),
             null) as last_came
    from readpast_enqueue_grouped_rows(:rows) r
   cross join readpast_queue q
   where q.id = @queue_id)
insert or fail into readpast_job (id, queue_id, priority, seq, run_at,
                                  max_attempts, created_at, kind, headers,
                                  payload, expire_at, extra, group_key, came)
select :ids_before + r.number, @queue_id, @priority,
       iif(p.blocked, null, @last_seq + r.number),
       iif(p.blocked, 9223372036854775807, @run_at),
       @max_attempts, :now, r.kind, r.headers, r.payload, @expire_at, @extra,
       r.group_key,
       iif(@is_grouped and (@group_limit > 0 or p.blocked),
           iif(p.last_came >= :now_us, p.last_came, :now_us) + r.nth, null)
  from readpast_enqueue_grouped_rows(:rows) r
 cross join place p
 where p.number = r.number;

-- Read the new ids here, because the insert into readpast_payload changes
-- last_insert_rowid().
select last_insert_rowid() - count(*) as before, last_insert_rowid() as last
  from readpast_enqueue_grouped_rows(:rows) r;

-- if @apart:
insert or fail into readpast_payload (id, payload)
select @before + r.number, r.apart
  from readpast_enqueue_grouped_rows(:rows) r
 where r.apart is not null;

-- the rest if @is_grouped:
insert or fail into readpast_group_slot (queue_id, group_key, job_id)
select @queue_id, group_key, id
  from readpast_job
 where id > @before and id <= @last and seq is not null and came is not null;

insert or fail into readpast_group_wait (queue_id, group_key, priority, came,
                                         job_id, run_at)
select @queue_id, group_key, @priority, came, id, :now
  from readpast_job
 where id > @before and id <= @last and seq is null;
