-- open_ranges: list the open transactions, each with the range of the ready line in
-- which the transaction may have drawn numbers. A tick (a row of the table `tick`) has
-- the last number that was drawn before the tick.
-- The range begins after the number of the last tick before the transaction got its id.
-- It ends at the number of the first tick at which the transaction was older than
-- young_age(). The range can end there, because from this age on the transaction adds a
-- row to the table `recheck` for each number that it draws, so that a later sweep looks
-- at this number again.
-- open: the snapshot that says which transactions are open.
-- Result: an element for each transaction. If no tick ends the range yet, `last` is
-- line_end().
-- Locks: none.

create function readpast.open_ranges(open pg_snapshot)
returns readpast.open_range[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
begin
	return array(
		select row(x.xid, b.seq + 1, a.seq)::readpast.open_range
		  from pg_snapshot_xip(open) as x(xid)
		 cross join lateral (
		       select coalesce((select t.seq from readpast.tick t
		                         where t.next_xid <= x.xid
		                         order by t.next_xid desc
		                         limit 1), 0) as seq) b
		  left join lateral (
		       select t.made_at from readpast.tick t
		        where t.next_xid > x.xid
		        order by t.next_xid
		        limit 1) f on true
		 cross join lateral (
		       select coalesce((select t.seq from readpast.tick t
		                         where t.next_xid > x.xid
		                           and t.read_at >= f.made_at
		                                            + readpast.young_age()
		                         order by t.next_xid
		                         limit 1), readpast.line_end()) as seq) a);
end
$body$;
