-- worker_extends: store a heartbeat of the client that holds a job, because it has
-- extended the job's lease. At most one heartbeat is stored in heartbeat_every(). If
-- another transaction has locked the client's row, nothing is stored.

update readpast.worker w
   set seen_at = pg_catalog.clock_timestamp()
 where w.ctid operator(pg_catalog.=) (
           select c.ctid
             from readpast.worker c
            where c.id operator(pg_catalog.=) (
                      select j.worker_id
                        from readpast.job j
                       where j.id operator(pg_catalog.=) :id
                         and j.claim_no operator(pg_catalog.=) :claim_no)
              and c.host operator(pg_catalog.=) '' and c.stopped_at is null
              and c.seen_at operator(pg_catalog.<)
                  (pg_catalog.clock_timestamp()
                   operator(pg_catalog.-) readpast.heartbeat_every())
              for update skip locked);
