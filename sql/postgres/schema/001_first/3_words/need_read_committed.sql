-- need_read_committed: raise an error unless this transaction is at READ COMMITTED.
-- Claims and sweeps must see rows that were committed after their transaction began.
-- what: the subject of the message, such as `a claim`.
-- Result: none. SQLSTATE 25001: the transaction is at another level.
-- Locks: none.

create function readpast.need_read_committed(what text) returns void
language plpgsql stable as $body$
begin
	if pg_catalog.current_setting('transaction_isolation')
	   operator(pg_catalog.<>) 'read committed'
	then
		raise exception '% works at READ COMMITTED only', what
			using errcode := '25001';
	end if;
end
$body$;
