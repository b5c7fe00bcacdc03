-- settled_time: return a time before which no open transaction can add a scheduled job
-- or a cursor to visit. Each run_at or visit_at that an open transaction writes is
-- later than this time.
-- Result: the read_at of a tick (a row of the table `tick`) minus settled_margin(). The
-- tick is the newest one for which all transactions with smaller ids than the tick's
-- next_xid have ended. Null if there is no such tick, or if that tick is later than now
-- because the clock was set back.
-- Locks: none.

create function readpast.settled_time() returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
begin
	return (select case when t.read_at <= clock_timestamp()
	                    then t.read_at - readpast.settled_margin() end
	          from readpast.tick t
	         where t.next_xid <= pg_snapshot_xmin(pg_current_snapshot())
	         order by t.next_xid desc
	         limit 1);
end
$body$;
