-- class_of: return the class of the jobs in a lane. lane_of() explains lanes and
-- classes.
-- lane_id: the lane.
-- Result: 0 front, 1 suspect, 2 normal.
-- Locks: none.

create function readpast.class_of(lane_id bigint) returns integer
language sql immutable
as $body$
select (lane_id operator(pg_catalog.%) 4)::integer
$body$;
