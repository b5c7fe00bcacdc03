-- purge_line: forget jobs that are in line and not held, :max at the most.

delete from readpast.job
 where id operator(pg_catalog.=) any (
              select id
                from readpast.job
               where queue_id operator(pg_catalog.=) (
                         select id from readpast.queue
                          where name operator(pg_catalog.=) :queue)
                 and seq is not null and lease_until is null
                 and (:kind::pg_catalog.text is null
                      or kind operator(pg_catalog.=) :kind)
               order by lane_id, seq
               limit :max::bigint
                 for update skip locked)
returning id;
