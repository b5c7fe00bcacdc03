-- purge_line: forget jobs that are in line and not held, :max at the most.

delete from readpast.job
 where id in (select id
                from readpast.job
               where queue_id = (select id from readpast.queue
                                  where name = :queue::text)
                 and seq is not null and lease_until is null
                 and (:kind::text is null or kind = :kind::text)
               order by lane_id, seq
               limit :max::bigint
                 for update skip locked)
returning id;
