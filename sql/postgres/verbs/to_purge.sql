-- to_purge: list the ids of at most :max jobs of a queue that are in the state :state.
-- :state can be any state except running. If :kind is not null, only jobs of that kind
-- are listed.

(select id
   from readpast.job
  where :state::bigint operator(pg_catalog.=)
            case when readpast.is_full((select id from readpast.queue
                                         where name operator(pg_catalog.=) :queue))
                 then 7
                 when (select holds_until operator(pg_catalog.>)
                              pg_catalog.clock_timestamp()
                         from readpast.queue
                        where name operator(pg_catalog.=) :queue)
                      and group_key is not null
                      and readpast.is_held(queue_id, group_key)
                 then 7 else 2 end
    and queue_id operator(pg_catalog.=) (
            select id from readpast.queue
             where name operator(pg_catalog.=) :queue)
    and seq is not null and lease_until is null
    and (:kind::pg_catalog.text is null or kind operator(pg_catalog.=) :kind)
  order by lane_id, seq
  limit :max::bigint)
union all
(select id
   from readpast.job
  where :state::bigint operator(pg_catalog.=) any ('{1, 2, 7}')
    and queue_id operator(pg_catalog.=) (
            select id from readpast.queue
             where name operator(pg_catalog.=) :queue)
    and seq is null and lease_until is null
    and run_at operator(pg_catalog.<) timestamp with time zone 'infinity'
    and :state::bigint operator(pg_catalog.=)
            case when run_at operator(pg_catalog.>) pg_catalog.clock_timestamp()
                 then 1
                 when readpast.is_full(queue_id) then 7
                 else 2 end
    and (:kind::pg_catalog.text is null or kind operator(pg_catalog.=) :kind)
  order by run_at
  limit :max::bigint)
union all
(select j.id
   from readpast.group_wait w
   join readpast.job j on j.id operator(pg_catalog.=) w.job_id
  where :state::bigint operator(pg_catalog.=) 7
    and w.queue_id operator(pg_catalog.=) (
            select id from readpast.queue
             where name operator(pg_catalog.=) :queue)
    and (:kind::pg_catalog.text is null or j.kind operator(pg_catalog.=) :kind)
  order by w.queue_id, w.group_key, w.priority, w.came
  limit :max::bigint)
union all
(select id
   from readpast.archive
  where queue_id operator(pg_catalog.=) (
            select id from readpast.queue
             where name operator(pg_catalog.=) :queue)
    and state operator(pg_catalog.=) :state::bigint
    and (:kind::pg_catalog.text is null or kind operator(pg_catalog.=) :kind)
  order by finished_at
  limit :max::bigint)
limit :max::bigint;
