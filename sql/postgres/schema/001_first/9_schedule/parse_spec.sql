-- parse_spec: parse the spec of a schedule. rp__spec_parse() of lib/cron/spec.c does
-- the same, with the same messages.
-- spec: five fields of a crontab, a name such as @daily, or `every 90s`. Spaces and
-- tabs separate the fields.
-- Result: the value of the column `sets` of the table `schedule`. SQLSTATE RP003: the
-- spec is wrong, or no day matches it.
-- Locks: none.

create function readpast.parse_spec(spec text) returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	body   text := btrim(regexp_replace(spec, e'[ \t]+', ' ', 'g'));
	parts  text[] := regexp_match(body, '^every ?([0-9]{1,15})(ms|s|m|h|d)$', 'i');
	units  jsonb := '{"ms": 1, "s": 1000, "m": 60000, "h": 3600000, "d": 86400000}';
	length numeric := parts[1]::numeric * (units ->> parts[2])::numeric;
	sets   bigint[];
begin
	perform readpast.need_name('the spec', translate(spec, e'\t', ' '), :most_spec,
	                           true);
	if body ~* '^every' then
		if length between 1000 and :most_days * 86400000::numeric then
			return array[0, 0, 0, 0, 0, 0, 0, length]::bigint[];
		end if;
		perform readpast.bad_spec(spec, 'expected a duration of 1 second to '
			':most_days days, such as every 90s, every 15m or every 2h');
	elsif body ~ '^@' then
		body := case lower(body collate "C")
			when '@yearly' then '0 0 1 1 *' when '@annually' then '0 0 1 1 *'
			when '@monthly' then '0 0 1 * *' when '@weekly' then '0 0 * * 0'
			when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *'
			when '@hourly' then '0 * * * *' end;
		if body is null then
			perform readpast.bad_spec(spec, 'expected @hourly, @daily, @midnight, '
				'@weekly, @monthly, @yearly or @annually');
		end if;
	end if;
	sets := readpast.parse_fields(spec, string_to_array(body, ' '));
	-- The calendar repeats after 400 years, and next_match() searches this long. So
	-- a spec without a match never fires.
	if readpast.next_match(sets, '2000-01-01') is null then
		perform readpast.bad_spec(spec, 'never fires: there is no such day');
	end if;
	return sets;
end
$body$;
