-- check_terms: raise an error if one of a job's own settings (how long it is kept, how
-- long its handler may run and so on) is out of range, or if its group is not a valid
-- name.
-- keep .. group_key: parameters of enqueue().
-- Result: none. SQLSTATE RP003: one of these values is wrong.
-- Locks: none.

create function readpast.check_terms(
	keep interval, timeout interval, expire interval, backoff interval[],
	unique_for interval default null, unique_key text default null,
	delay interval default null, run_at timestamptz default null,
	group_key text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.need_name('the group', group_key, :most_key)
	  where group_key is not null;
	-- These four times have the limits of a lease.
	if readpast.is_bad_lease(keep) or readpast.is_bad_lease(timeout)
	   or readpast.is_bad_lease(expire) or readpast.is_bad_lease(unique_for)
	then
		raise exception 'keep, timeout, expire and unique_for must be within '
			'1 ms..:most_days days'
			using errcode = 'RP003';
	elsif cardinality(backoff) not between 1 and :most_backoff
	      or exists (select 1 from unnest(backoff) as b(delay)
	                  where b.delay is null or readpast.is_bad_delay(b.delay))
	then
		raise exception 'backoff must have 1 to :most_backoff delays, each within 0..:most_days days'
			using errcode = 'RP003';
	elsif unique_for is not null and unique_key is null then
		raise exception 'unique_for needs a unique key' using errcode = 'RP003';
	elsif delay >= expire or run_at >= statement_timestamp() + expire then
		raise exception 'the job would expire before it is due'
			using errcode = 'RP003';
	end if;
end
$body$;
