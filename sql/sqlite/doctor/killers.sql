-- killers: list jobs whose lease ran out. Such a job may have killed its worker. Some
-- of these jobs are ready again, as suspects. The other jobs died within the last day,
-- when a lease ran out.

select id, queue, state, attempts, :now_ms - since as lasts_ms
  from (select j.id, q.name as queue, 'ready again' as state,
               j.attempt || ' of ' || j.max_attempts as attempts,
               j.run_at as since
          from readpast_queue q
          join readpast_job j
            on j.id in (select id
                          from readpast_job indexed by readpast_job_suspect
                         where queue_id = q.id and class = 1
                           and seq is not null
                         limit 10)
        union all
        select a.id, q.name, 'dead', a.attempt || ' of ' || a.max_attempts,
               a.finished_at
          from readpast_queue q
          join readpast_archive a
            on a.id in (select id from readpast_archive
                         where queue_id = q.id and state = 5
                         order by finished_at desc limit 200)
         where a.last_error like 'lease ran out, attempt %'
           and a.finished_at > :now_ms - 86400000)
 order by id desc
 limit 10;
