-- sweep: list jobs that a sweep should have moved more than three seconds ago, because
-- they are due, their lease is over, or the hold of their group is over.

select queue, strftime('%Y-%m-%dT%H:%M:%SZ', since / 1000, 'unixepoch')
       as since,
       :now_ms - since as late_ms, :now_ms - since as lasts_ms, example
  from (select q.name as queue, e.id as example,
               iif(e.lease_until is null, e.run_at, e.lease_until) as since
          from readpast_queue q
          join readpast_job e
            on e.id in ((select id from readpast_job
                          where queue_id = q.id and seq is null
                            and lease_until is null
                            and run_at < :now_ms - 3000
                            and run_at < 9223372036854775807
                          order by run_at limit 1),
                        (select id from readpast_job
                          where queue_id = q.id and lease_until is not null
                            and lease_until < :now_ms - 3000
                          order by lease_until limit 1))
         union all
        select q.name, (select job_id from readpast_group_wait
                         where queue_id = h.queue_id and group_key = h.group_key
                         order by priority, came limit 1) as first, h.until
          from readpast_group_hold h
          join readpast_queue q on q.id = h.queue_id and q.paused_at is null
         where h.until < :now_ms - 3000 and first is not null)
 order by 3 desc
 limit 20;
