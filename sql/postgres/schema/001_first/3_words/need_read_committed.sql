-- need_read_committed: What leases jobs or looks for what others lease must see
-- what they commit.

create function readpast.need_read_committed(what text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		raise exception '% works at READ COMMITTED only', what
			using errcode = '25001';
	end if;
end
$body$;
