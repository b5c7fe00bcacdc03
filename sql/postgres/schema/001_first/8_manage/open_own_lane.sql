-- open_own_lane: open the lane that a queue's jobs go to when they name no
-- priority.

create function readpast.open_own_lane(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.open_lane(q.lane_id)
	   from readpast.queue q
	  where q.name = queue;
end
$body$;
