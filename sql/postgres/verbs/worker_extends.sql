-- worker_extends: store a heartbeat of the client that holds a job, because it has
-- extended the job's lease. :host and :pid are those of the server that has registered the
-- client. If the client was unregistered, it is registered again. At most one heartbeat
-- is stored in heartbeat_every(), and none while another transaction has locked the
-- client's row. If the client of this server holds the job, its id is returned.

with its as (
    select c.id,
           c.stopped_at is not null
           or c.seen_at operator(pg_catalog.<)
              (pg_catalog.clock_timestamp()
               operator(pg_catalog.-) readpast.heartbeat_every()) as is_due
      from readpast.job j
      join readpast.worker c on c.id operator(pg_catalog.=) j.worker_id
     where j.id operator(pg_catalog.=) :id
       and j.claim_no operator(pg_catalog.=) :claim_no
       and c.host operator(pg_catalog.=) :host
       and c.pid operator(pg_catalog.=) :pid),
heartbeat as (
    update readpast.worker w
       set seen_at = pg_catalog.clock_timestamp(), stopped_at = null
     where w.ctid operator(pg_catalog.=) (
               select c.ctid
                 from readpast.worker c
                where c.id operator(pg_catalog.=)
                      (select i.id from its i where i.is_due)
                  for update skip locked))
select i.id from its i;
