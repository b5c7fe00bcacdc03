-- queue_of: the id of a lane's queue.

create function readpast.queue_of(lane_id bigint) returns integer
language sql immutable
as $body$
select (lane_id operator(pg_catalog./) 1024)::integer
$body$;
