-- first_lane: return the smallest number that a lane of a queue can have. last_lane()
-- returns the largest one. lane_of() explains lanes.
-- queue_id: the queue.
-- Result: the number.
-- Locks: none.

create function readpast.first_lane(queue_id integer) returns bigint
language sql immutable
as $body$
select readpast.lane_of(queue_id, 0, 0)
$body$;
