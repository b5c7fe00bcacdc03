-- seal: note how far the line's numbers had come, and then the transactions' ids. The
-- number was read before, and later than `moment`; this transaction is given its id now,
-- so whoever drew a number up to that one has a smaller id. (A snapshot's xmax would not
-- do: it is one more than the last that ended, and larger ids may be open.) Seals that
-- no open transaction began before are forgotten.

create function readpast.seal(drawn bigint, moment timestamptz) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	oldest xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
	insert into readpast.seal (seq, next_xid, read_at, made_at)
	values (drawn, pg_current_xact_id(), moment, clock_timestamp());
	delete from readpast.seal s
	 where s.ctid = any (array(
	           select s.ctid from readpast.seal s
	            where s.seq < (select max(o.seq) from readpast.seal o
	                            where o.next_xid <= oldest)
	              for update skip locked));
end
$body$;
