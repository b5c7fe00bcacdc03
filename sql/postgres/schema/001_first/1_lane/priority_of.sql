-- priority_of: return the priority of the jobs in a lane. lane_of() explains lanes.
-- lane_id: the lane.
-- Result: 0..255.
-- Locks: none.

create function readpast.priority_of(lane_id bigint) returns integer
language sql immutable
as $body$
select (lane_id operator(pg_catalog./) 4 operator(pg_catalog.%) 256)::integer
$body$;
