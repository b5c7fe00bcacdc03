-- to_purge: list the ids of at most :max jobs of a queue that are in the state :state.
-- :state can be any state except running. If :kind is not null, only jobs of that kind
-- are listed.

(select id
   from readpast.job
  where :state::bigint operator(pg_catalog.=) 2
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
  where :state::bigint operator(pg_catalog.<) 3
    and queue_id operator(pg_catalog.=) (
            select id from readpast.queue
             where name operator(pg_catalog.=) :queue)
    and seq is null and lease_until is null
    and (run_at operator(pg_catalog.<=) pg_catalog.clock_timestamp())
        operator(pg_catalog.=) (:state::bigint operator(pg_catalog.=) 2)
    and (:kind::pg_catalog.text is null or kind operator(pg_catalog.=) :kind)
  order by run_at
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
