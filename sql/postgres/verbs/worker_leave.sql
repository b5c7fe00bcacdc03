-- worker_leave: unregister a client whose last heartbeat is older than :silent_ms.
-- If its last heartbeat is newer, its id is returned. The client stays registered then.

with gone as (
    update readpast.worker
       set stopped_at = pg_catalog.clock_timestamp()
     where id operator(pg_catalog.=) :id and stopped_at is null
       and seen_at operator(pg_catalog.<)
           (pg_catalog.clock_timestamp()
            operator(pg_catalog.-) readpast.ms(:silent_ms))
    returning id)
select w.id
  from readpast.worker w
 where w.id operator(pg_catalog.=) :id and w.stopped_at is null
   and not exists (select 1 from gone);
