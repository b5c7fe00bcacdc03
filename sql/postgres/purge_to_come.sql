-- purge_to_come: forget jobs that are to come, those due already (:due) or the
-- others, :max at the most.

delete from readpast.job
 where id operator(pg_catalog.=) any (
              select id
                from readpast.job
               where queue_id operator(pg_catalog.=) (
                         select id from readpast.queue
                          where name operator(pg_catalog.=) :queue)
                 and seq is null and lease_until is null
                 and (run_at
                      operator(pg_catalog.<=) pg_catalog.clock_timestamp())
                     operator(pg_catalog.=) :due::bigint::integer::boolean
                 and (:kind::pg_catalog.text is null
                      or kind operator(pg_catalog.=) :kind)
               order by run_at
               limit :max::bigint
                 for update skip locked)
returning id;
