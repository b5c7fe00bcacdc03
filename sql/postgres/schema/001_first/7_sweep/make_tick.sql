-- make_tick: add a tick: the last number of the ready line that was drawn, and a
-- transaction id that was assigned after that. Also delete ticks that are older than all
-- open transactions, ticks of another cluster (after a restore), and ticks later than now
-- (after the clock was set back).
--
-- This transaction gets its id here, after `drawn` was read. So each transaction that drew
-- a number up to `drawn` has a smaller id. (A snapshot's xmax is not suitable as the id:
-- it is one more than the last transaction that ended, and transactions with larger ids
-- may be open.)
--
-- drawn: the result of last_drawn(), not null; read_at: a time before `drawn` was read.
-- Locks: the ticks that it deletes; it skips those that others have locked.

create function readpast.make_tick(drawn bigint, read_at timestamptz) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
	mine   xid8 := pg_current_xact_id();
	needed xid8 := (select t.next_xid
	                  from readpast.tick t
	                 where t.next_xid
	                       <= pg_snapshot_xmin(pg_current_snapshot())
	                 order by t.next_xid desc
	                 limit 1);
begin
	insert into readpast.tick (next_xid, seq, read_at, made_at)
	values (mine, drawn, make_tick.read_at, clock_timestamp())
	    on conflict do nothing;
	delete from readpast.tick t
	 where t.next_xid = any (array(
	           select t.next_xid
	             from readpast.tick t
	            where t.next_xid < needed or t.next_xid > mine
	               or t.read_at > clock_timestamp()
	            order by t.next_xid
	              for update skip locked));
end
$body$;
