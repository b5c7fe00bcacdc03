-- check_settings: raise an error if a priority or a number of attempts is out of range.
-- priority, max_attempts: the values. Null means the default.
-- Result: none. SQLSTATE RP003: a value is out of range.
-- Locks: none.

create function readpast.check_settings(priority integer, max_attempts integer)
returns void
language plpgsql immutable
as $body$
begin
	if priority operator(pg_catalog.<) 0
	   or priority operator(pg_catalog.>) :most_priority then
		raise exception 'priority % is not within 0..:most_priority', priority
			using errcode = 'RP003';
	elsif max_attempts operator(pg_catalog.<) 1
	      or max_attempts operator(pg_catalog.>) :most_attempts then
		raise exception 'max_attempts is not within 1..:most_attempts'
			using errcode = 'RP003';
	end if;
end
$body$;
