-- queue_of: return the queue of a lane. lane_of() explains lanes.
-- lane_id: the lane.
-- Result: the queue's id.
-- Locks: none.

create function readpast.queue_of(lane_id bigint) returns integer
language sql immutable
as $body$
select (lane_id operator(pg_catalog./) 1024)::integer
$body$;
