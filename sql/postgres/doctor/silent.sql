-- silent: list workers that were not seen for half a minute and did not unregister. For
-- each of them the query lists the queues that no other worker serves. If this list is
-- empty, no job waits because of the silent worker. A worker without a host is a client
-- in SQL. The query calls no routine of the schema, so a role that may `select` from
-- the table `worker` can run it.

select s.worker, s.host, s.pid, s.queues::text as queues, s.silent_ms,
       case when s.pid = 0 then ''
            else format(' on host %s (process %s)', s.host, s.pid) end as place,
       s.unserved::text as unserved,
       case when s.unserved = '[]' then 0 else s.silent_ms end as lasts_ms
  from (select w.name as worker, w.host, w.pid, w.queues,
               (extract(epoch from clock_timestamp() - w.seen_at)
                * 1000)::bigint as silent_ms,
               (select coalesce(jsonb_agg(e.queue), '[]')
                  from jsonb_array_elements_text(w.queues) e(queue)
                 where not exists (
                       select 1 from worker o
                        where o.stopped_at is null and o.queues ? e.queue
                          and o.seen_at > clock_timestamp()
                                          - interval '30 seconds'))
               as unserved
          from worker w
         where w.stopped_at is null
           and w.seen_at < clock_timestamp() - interval '30 seconds'
         order by w.seen_at
         limit 10) s;
