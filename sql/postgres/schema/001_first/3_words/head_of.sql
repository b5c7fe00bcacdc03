-- head_of: Where the claims of a lane start: at the newest mark that is 50 ms
-- old. Who draws a number commits within that time as a rule, and not behind
-- the head, where only the sweep would find it.

create function readpast.head_of(lane_id bigint) returns bigint
language plpgsql stable as $body$
begin
	return coalesce((select m.head
	                   from readpast.mark m
	                  where m.lane_id operator(pg_catalog.=) head_of.lane_id
	                    and m.made_at operator(pg_catalog.<=)
	                        (pg_catalog.clock_timestamp()
	                         operator(pg_catalog.-) interval '50 milliseconds')
	                  order by m.lane_id desc, m.head desc
	                  limit 1), 0);
end
$body$;
