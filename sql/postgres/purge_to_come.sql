-- purge_to_come: forget jobs that are to come, those due already (:due) or the
-- others, :max at the most.

delete from readpast.job
 where id in (select id
                from readpast.job
               where queue_id = (select id from readpast.queue
                                  where name = :queue::text)
                 and seq is null and lease_until is null
                 and (run_at <= clock_timestamp()) = (:due::bigint <> 0)
                 and (:kind::text is null or kind = :kind::text)
               order by run_at
               limit :max::bigint
                 for update skip locked)
returning id;
