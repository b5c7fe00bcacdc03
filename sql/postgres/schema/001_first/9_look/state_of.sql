-- state_of: return the state of a live job. A job that is due and does not run is ready
-- or blocked.
-- j, q: the job and its queue.
-- Result: 1 scheduled, 2 ready, 3 running, 7 blocked.
-- Locks: none.

create function readpast.state_of(j readpast.job, q readpast.queue)
returns integer
language sql stable as $body$
select case when (j).lease_until is not null then 3
            when (j).seq is null
                 and (j).run_at operator(pg_catalog.=)
                     timestamp with time zone 'infinity' then 7
            when (j).seq is null
                 and (j).run_at operator(pg_catalog.>) pg_catalog.clock_timestamp()
            then 1
            when ((q).run_limit operator(pg_catalog.>) 0
                  or (q).rate_count operator(pg_catalog.>) 0
                  or (q).held_until is not null)
                 and readpast.is_full((q).id) then 7
            when (q).holds_until operator(pg_catalog.>) pg_catalog.clock_timestamp()
                 and (j).group_key is not null
                 and readpast.is_held((q).id, (j).group_key) then 7
            else 2 end
$body$;
