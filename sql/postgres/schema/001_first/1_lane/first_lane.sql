-- first_lane: the smallest number that a lane of a queue can have.
-- queue_id: the queue's id.
-- Result: the number. All lanes of the queue are between it and last_lane().
-- Locks: none.

create function readpast.first_lane(queue_id integer) returns bigint
language sql immutable
as $body$
select readpast.lane_of(queue_id, 0, 0)
$body$;
