-- is_round_trip: are these arguments of settle_and_claim() valid? settle() checks the
-- verdicts. The planner inlines this function, which saves a call in each claim.
-- queues .. claim_nos: the parameters of settle_and_claim().
-- Result: true if the arguments are valid, otherwise false or null.
-- Locks: none.

create function readpast.is_round_trip(
	queues text[], lease_ms bigint, worker_id bigint, most integer,
	at_once integer, holding integer, ids bigint[], claim_nos bigint[])
returns boolean
language sql immutable
as $body$
select most operator(pg_catalog.>=) 0
       and most operator(pg_catalog.<=) :most_claimed
       and (most operator(pg_catalog.=) 0 or queues is not null)
       and coalesce(at_once, 0) operator(pg_catalog.>=) 0
       and holding operator(pg_catalog.>=) 0
       and worker_id operator(pg_catalog.>=) 0
       and coalesce(lease_ms, 1) operator(pg_catalog.>=) 1
       and coalesce(lease_ms, 1) operator(pg_catalog.<=) :most_ms
       and pg_catalog.cardinality(claim_nos)
           operator(pg_catalog.=) pg_catalog.cardinality(ids)
$body$;
