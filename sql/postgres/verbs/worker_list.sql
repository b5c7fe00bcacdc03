-- worker_list: who serves, or did and never said that it stopped; by id.

select w.id, w.name, w.host, w.pid, w.queues::pg_catalog.text as queues,
       w.started_at, w.seen_at,
       greatest(readpast.to_ms(pg_catalog.clock_timestamp()
                               operator(pg_catalog.-) w.seen_at), 0)
       as silent_ms,
       coalesce(h.running, 0) as running, w.done, w.failed, w.dead, w.released
  from readpast.worker w
  left join (select j.worker_id, pg_catalog.count(*) as running
               from readpast.job j
              where j.lease_until is not null
              group by j.worker_id) h on h.worker_id operator(pg_catalog.=) w.id
 where w.stopped_at is null
 order by w.id;
