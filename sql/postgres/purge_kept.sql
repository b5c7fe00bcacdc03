-- purge_kept: forget kept jobs in one state, :max at the most.

delete from readpast.archive
 where id operator(pg_catalog.=) any (
              select id
                from readpast.archive
               where queue_id operator(pg_catalog.=) (
                         select id from readpast.queue
                          where name operator(pg_catalog.=) :queue)
                 and state operator(pg_catalog.=) :state::bigint
                 and (:kind::pg_catalog.text is null
                      or kind operator(pg_catalog.=) :kind)
               order by finished_at
               limit :max::bigint
                 for update skip locked)
returning id;
