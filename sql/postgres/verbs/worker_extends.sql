-- worker_extends: store a heartbeat of the client that holds a job, because it has
-- extended the job's lease. :host and :pid are those of the server that has registered the
-- client. If the client was unregistered, it is registered again. If the client of this
-- server holds the job, its id is returned. If another transaction has locked the client's
-- row, nothing is stored, and nothing is returned.

update readpast.worker w
   set seen_at = pg_catalog.clock_timestamp(), stopped_at = null
 where w.ctid operator(pg_catalog.=) (
           select c.ctid
             from readpast.job j
             join readpast.worker c on c.id operator(pg_catalog.=) j.worker_id
            where j.id operator(pg_catalog.=) :id
              and j.claim_no operator(pg_catalog.=) :claim_no
              and c.host operator(pg_catalog.=) :host
              and c.pid operator(pg_catalog.=) :pid
              for update of c skip locked)
returning w.id;
