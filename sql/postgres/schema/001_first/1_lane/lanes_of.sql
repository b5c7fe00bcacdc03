-- lanes_of: list the lanes of a queue that were ever used, in the order in which claims
-- visit them. lane_of() explains lanes.
-- queue_id: the queue.
-- Result: the numbers of the lanes, each once.
-- Locks: none.

create function readpast.lanes_of(queue_id integer) returns bigint[]
language plpgsql stable as $body$
begin
	return array(select distinct l.lane_id
	               from readpast.lane l
	              where l.lane_id operator(pg_catalog.>=)
	                    readpast.first_lane(lanes_of.queue_id)
	                and l.lane_id operator(pg_catalog.<=)
	                    readpast.last_lane(lanes_of.queue_id)
	              order by l.lane_id);
end
$body$;
