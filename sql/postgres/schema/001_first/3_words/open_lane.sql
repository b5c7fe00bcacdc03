-- open_lane: record that a lane is used, so that claims visit it. If two transactions
-- open a lane at the same time, both insert a row, because neither sees the other's
-- row. lanes_of() ignores the duplicate, and neither transaction waits.
-- lane: the lane (a queue, a priority and a class, see lane_of()).
-- Locks: none.

create function readpast.open_lane(lane bigint) returns void
language plpgsql volatile
as $body$
begin
	insert into readpast.lane (lane_id)
	select lane
	 where not exists (select 1 from readpast.lane l
	                    where l.lane_id operator(pg_catalog.=) lane);
end
$body$;
