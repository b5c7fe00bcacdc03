-- open_lane: Say that a lane is used.

create function readpast.open_lane(lane bigint) returns void
language plpgsql volatile as $body$
begin
	insert into readpast.lane (lane_id)
	select lane
	 where not exists (select 1 from readpast.lane l
	                    where l.lane_id operator(pg_catalog.=) lane);
end
$body$;
