-- newest_head: The newest mark of a lane, however young.

create function readpast.newest_head(lane_id bigint) returns bigint
language plpgsql stable as $body$
begin
	return coalesce((select m.head
	                   from readpast.mark m
	                  where m.lane_id
	                        operator(pg_catalog.=) newest_head.lane_id
	                  order by m.lane_id desc, m.head desc
	                  limit 1), 0);
end
$body$;
