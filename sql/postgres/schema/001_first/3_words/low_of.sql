-- low_of: How far the sweep has walked in a lane.

create function readpast.low_of(lane_id bigint) returns bigint
language plpgsql stable as $body$
begin
	return coalesce((select w.low
                   from readpast.walked w
                  where w.lane_id operator(pg_catalog.=) low_of.lane_id
                  order by w.lane_id desc, w.low desc
                  limit 1), 0);
end
$body$;
