-- wait_for_open: The transactions that are open may have drawn numbers between
-- these two: note to look there once they are over. They draw between the seal
-- before they began and the first that was read a tenth of a second after the
-- next one was made.

create function readpast.wait_for_open(lane_id bigint, low bigint, high bigint,
                                       open pg_snapshot) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.stray (lane_id, first, last, waits_for)
	select wait_for_open.lane_id, greatest(low, d.after + 1),
	       least(high - 1, d.til), d.xid
	  from (select x.xid,
	               coalesce((select max(s.seq) from readpast.seal s
	                          where s.next_xid <= x.xid), 0) as after,
	               coalesce((select s.seq from readpast.seal s
	                          where s.read_at >= (
	                                    select f.made_at
	                                           + interval '100 milliseconds'
	                                      from readpast.seal f
	                                     where f.next_xid > x.xid
	                                     order by f.seq limit 1)
	                          order by s.seq limit 1),
	                        9223372036854775807) as til
	          from pg_snapshot_xip(open) as x(xid)) d
	 where d.after + 1 < high and d.til >= low;
end
$body$;
