-- with_class: return the lane that has the queue and the priority of a given lane, but
-- the class in the second argument. lane_of() explains lanes and classes.
-- lane_id: the given lane.
-- class: 0 front, 1 suspect, 2 normal.
-- Result: the lane's number.
-- Locks: none.

create function readpast.with_class(lane_id bigint, class integer)
returns bigint
language sql immutable
as $body$
select lane_id operator(pg_catalog./) 4 operator(pg_catalog.*) 4
       operator(pg_catalog.+) class
$body$;
