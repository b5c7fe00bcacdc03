-- with_class: return the lane for jobs of the same queue and priority, but of another
-- class.
-- lane_id: a lane.
-- class: 0 front, 1 suspect, 2 normal.
-- Result: the other lane.
-- Locks: none.

create function readpast.with_class(lane_id bigint, class integer)
returns bigint
language sql immutable
as $body$
select lane_id operator(pg_catalog./) 4 operator(pg_catalog.*) 4
       operator(pg_catalog.+) class
$body$;
