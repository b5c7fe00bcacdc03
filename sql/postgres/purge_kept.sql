-- purge_kept: forget kept jobs in one state, :max at the most.

delete from readpast.archive
 where id in (select id
                from readpast.archive
               where queue_id = (select id from readpast.queue
                                  where name = :queue::text)
                 and state = :state::bigint
                 and (:kind::text is null or kind = :kind::text)
               order by finished_at
               limit :max::bigint
                 for update skip locked)
returning id;
