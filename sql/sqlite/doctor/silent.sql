-- silent: list workers that have sent no heartbeat for half a minute and did not
-- unregister. The column `unserved` has those queues of the worker that no live worker
-- serves. If `unserved` is empty, no job waits because of the silent worker.

select s.worker, s.host, s.pid, s.queues, s.silent_ms, s.unserved,
       ' on host ' || s.host || ' (process ' || s.pid || ')' as place,
       iif(s.unserved = '[]', 0, s.silent_ms) as lasts_ms
  from (select w.name as worker, w.host, w.pid, w.queues,
               :now_ms - w.seen_at as silent_ms,
               (select json_group_array(e.value)
                  from json_each(w.queues) e
                 where not exists (
                       select 1
                         from readpast_worker o, json_each(o.queues) its
                        where o.stopped_at is null and its.value = e.value
                          and o.seen_at > :now_ms - 30000)) as unserved
          from readpast_worker w
         where w.stopped_at is null and w.seen_at < :now_ms - 30000
         order by w.seen_at
         limit 10) s;
