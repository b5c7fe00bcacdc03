-- retry: make a dead or cancelled job ready again, with the same id, no attempts used
-- and a larger claim number. If its expiry time has passed, that time is removed, so
-- the job does not expire. If another live job has the same unique key now, `taken` is
-- 1 and nothing changes.

-- answer:
select a.id,
       exists (select 1 from readpast_job j
                where j.queue_id = a.queue_id and j.unique_key = a.unique_key)
       as taken,
       not exists (select 1 from readpast_job j
                    where j.queue_id = a.queue_id
                      and j.unique_key = a.unique_key) as free,
       a.queue_id, a.priority, a.group_key,
       a.group_key is not null
       and not exists (select 1 from readpast_job j
                        where j.queue_id = a.queue_id
                          and j.unique_key = a.unique_key)
       and (select group_limit > 0 or holds_until > :now
              from readpast_queue where id = a.queue_id) as enters
  from readpast_archive a
 where a.id = :id and a.state in (5, 6) and (:kind is null or a.kind = :kind)
   and a.queue_id in (select id from readpast_queue);

-- if @free:
insert into readpast_job (id, queue_id, priority, seq, run_at, claim_no,
                          max_attempts, created_at, unique_key, kind, headers,
                          payload, last_error, failures, extra, group_key,
                          expire_at)
select a.id, a.queue_id, a.priority,
       1 + coalesce((select k.seq from readpast_job k
                      where k.queue_id = a.queue_id
                        and k.priority = a.priority
                        and k.class = 2 and k.seq is not null
                      order by k.seq desc limit 1), 0),
       :now, a.claim_no + 1, a.max_attempts, a.created_at, a.unique_key,
       a.kind, a.headers, a.payload, a.last_error, a.failures,
       a.extra, a.group_key,
       iif(a.expire_at > :now, a.expire_at, null)
  from readpast_archive a
 where a.id = @id;

-- if @free:
delete from readpast_archive where id = @id;

-- the rest if @enters:
-- include enter_group
