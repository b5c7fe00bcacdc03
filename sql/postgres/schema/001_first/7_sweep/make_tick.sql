-- make_tick: add a tick, a row of the table `tick`. From the ticks a sweep computes
-- which numbers of the ready line an open transaction may have drawn. A tick has the
-- last number that was drawn from the sequence `line`, and the id of this transaction.
-- The transaction gets its id here, after `drawn` was read. Every transaction gets its
-- id before it draws a number (see take_xid()). So each transaction that drew a number
-- up to `drawn` has a smaller id than this transaction. (The tick cannot have the xmax
-- of a snapshot in place of this id, because open transactions may have larger ids than
-- xmax.)
-- The routine also deletes ticks that are no longer needed. Of the ticks that are older
-- than all open transactions, it keeps only the newest. Ticks of another cluster (after
-- a restore) are deleted, and so are ticks that are later than now (after the clock was
-- set back).
-- drawn: the result of last_drawn(), not null.
-- read_at: a time before `drawn` was read.
-- Locks: the ticks that the routine deletes. Ticks that other transactions have locked
-- are skipped.

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
