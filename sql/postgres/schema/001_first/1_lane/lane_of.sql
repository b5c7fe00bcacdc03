-- lane_of: the number of a lane: one queue's jobs of one priority and class.
-- The only place that defines the number. Numbers of one queue's lanes ascend in claim
-- order. They are computed and not stored, so two transactions that use a new lane at
-- once do not wait for each other.
-- class: 0 front (given back, or its lease ran out), 1 suspect (its lease ran
-- out twice in a row, or before its last attempt), 2 normal.
-- Result: the number.
-- Locks: none.

create function readpast.lane_of(queue_id integer, priority integer,
                                 class integer) returns bigint
language sql immutable
as $body$
select queue_id::bigint operator(pg_catalog.*) 1024
       operator(pg_catalog.+) (priority operator(pg_catalog.*) 4)
       operator(pg_catalog.+) class
$body$;
