-- lane_of: compute the number of a lane. A lane holds the jobs of one queue, priority
-- and class. This is the only place that defines the number. The numbers of a queue's
-- lanes ascend in the order in which claims visit them. The number is computed from the
-- queue, the priority and the class, and not drawn from a table. So two transactions
-- that use a new lane at once do not wait for each other.
-- queue_id, priority: the queue and the priority.
-- class: one of three numbers.
--   0 front: the job was released, or its lease ran out once.
--   1 suspect: the job may have killed its workers, because its lease ran out twice in
--     a row, or ran out when only one attempt was left.
--   2 normal.
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
