-- check_job: raise an error if an argument of enqueue() is wrong.
-- payload .. replace: parameters of enqueue().
-- Result: none. SQLSTATE RP003: an argument is wrong.
-- Locks: none.

create function readpast.check_job(
	payload bytea, priority integer, delay interval, run_at timestamptz,
	max_attempts integer, kind text, unique_key text, replace boolean)
returns void
language plpgsql stable
as $body$
begin
	perform readpast.check_settings(priority, max_attempts);
	if payload is null then
		raise exception 'the payload is null' using errcode = 'RP003';
	end if;
	perform readpast.need_name('the kind', kind, :most_name),
	        readpast.need_name('the unique key', unique_key, :most_key)
	  where kind is not null or unique_key is not null;
	if readpast.is_bad_delay(delay) then
		raise exception 'the delay is not within 0..:most_days days'
			using errcode = 'RP003';
	elsif run_at operator(pg_catalog.<)
	      timestamp with time zone '1970-01-01 00:00:00+00'
	      or run_at operator(pg_catalog.>)
	      timestamp with time zone '9999-12-31 23:59:59.999+00' then
		raise exception 'run_at is not within the years 1970..9999'
			using errcode = 'RP003';
	elsif delay is not null and run_at is not null then
		raise exception 'give either delay or run_at, not both'
			using errcode = 'RP003';
	elsif replace and unique_key is null then
		raise exception 'replace needs a unique key' using errcode = 'RP003';
	end if;
end
$body$;
