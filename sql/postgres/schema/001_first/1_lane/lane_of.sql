-- lane_of: the number of a lane. A lane is one queue's jobs of one priority and class: 0 front (given
-- back, or its lease ran out), 1 suspect (its lease ran out twice in a row, or
-- before its last attempt), 2 normal. So the lanes of a queue lie in the order
-- of its claims. (The caller's search_path must not decide which operators
-- these are: see sql/README.md.)

create function readpast.lane_of(queue_id integer, priority integer,
                                 class integer) returns bigint
language sql immutable
as $body$
select queue_id::bigint operator(pg_catalog.*) 1024
       operator(pg_catalog.+) (priority operator(pg_catalog.*) 4)
       operator(pg_catalog.+) class
$body$;
