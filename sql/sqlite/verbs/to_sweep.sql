-- to_sweep: the queues that a sweep would change, so that it takes the write
-- lock only for those: a lease ran out there, or a job is due. With :rest also
-- those where a kept job's time is over, and those that were dropped; and a null
-- if sweep_rest has something to forget.

-- answer:
select q.id as queue_id, 0 as dropped
  from readpast_queue q
 where exists (select 1 from readpast_job
                where queue_id = q.id and lease_until <= :now
                  and lease_until is not null)
    or exists (select 1 from readpast_job
                where queue_id = q.id and seq is null and lease_until is null
                  and run_at <= :now)
    or :rest
       and (exists (select 1 from readpast_archive
                     where queue_id = q.id and state = 4
                       and finished_at <= :now - q.keep_done_ms)
            or exists (select 1 from readpast_archive
                        where queue_id = q.id and state in (5, 6)
                          and finished_at <= :now - q.keep_dead_ms))
union all
select queue_id, 1
  from readpast_dropped
 where :rest
union all
select null, 0
 where :rest
   and (exists (select 1 from readpast_gone)
        or exists (select 1 from readpast_worker where seen_at < :now - 3600000)
        or exists (select 1 from readpast_tally
                    where second < :now / 1000 - 60));
