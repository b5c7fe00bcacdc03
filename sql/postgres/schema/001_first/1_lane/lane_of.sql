-- lane_of: compute the number of a lane. A lane holds the jobs of one queue, priority
-- and class. Only this function defines the numbers. The numbers of a queue's lanes
-- ascend in the order in which claims visit them. A lane's number is computed, and not
-- drawn from a table. So two transactions that begin to use the same lane do not wait
-- for each other.
-- queue_id, priority: the queue and the priority.
-- class: one of three numbers.
--   0 front: the job was released, or its lease ran out once.
--   1 suspect: the job's lease ran out twice in a row, or ran out when only one
--     attempt was left. Perhaps the job has killed its workers.
--   2 normal: any other job.
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
