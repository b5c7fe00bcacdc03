-- check_jobs: raise an error if an argument of enqueue_many() is wrong.
-- payloads .. headers: the parameters of enqueue_many().
-- Result: none. SQLSTATE RP003: an argument is wrong.
-- Locks: none.

create function readpast.check_jobs(
	payloads bytea[], priority integer, delays interval[],
	max_attempts integer, kinds text[], headers jsonb[])
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	n integer := cardinality(payloads);
begin
	perform readpast.check_settings(priority, max_attempts);
	if payloads is null or array_position(payloads, null) is not null then
		raise exception 'a payload is null' using errcode = 'RP003';
	end if;
	perform readpast.need_name('a kind', k.kind, :most_name)
	   from unnest(kinds) as k(kind);
	if exists (select 1 from unnest(delays) as d(delay)
	            where readpast.is_bad_delay(d.delay)) then
		raise exception 'a delay is not within 0..:most_days days'
			using errcode = 'RP003';
	elsif cardinality(delays) <> n or cardinality(kinds) <> n
	      or cardinality(headers) <> n then
		raise exception 'delays, kinds and headers must have one element for each of the '
			'% payloads', n using errcode = 'RP003';
	end if;
end
$body$;
