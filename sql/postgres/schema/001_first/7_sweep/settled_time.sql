-- settled_time: return a time T such that each run_at or visit_at that an open
-- transaction writes is later than T. So a sweep sees all rows up to T, and no later
-- sweep need look there again.
-- Result: the time at which the newest suitable tick (a row of the table `tick`) was
-- read, minus settled_margin(). A tick is suitable if all transactions that were open
-- when it was made have ended. Null if there is no suitable tick, or if its time is
-- later than now because the clock was set back.
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
