-- last_lane: return the largest number that a lane of a queue can have. lane_of()
-- explains lanes.
-- queue_id: the queue.
-- Result: the number.
-- Locks: none.

create function readpast.last_lane(queue_id integer) returns bigint
language sql immutable
as $body$
select readpast.lane_of(queue_id, :most_priority, 3)
$body$;
