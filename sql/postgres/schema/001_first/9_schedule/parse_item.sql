-- parse_item: parse one item of a field of a schedule's spec, for example `*/10`, `5`
-- or `MON-FRI`. add_item() of lib/cron/spec.c does the same.
-- item: the text of the item.
-- low, high: the smallest and the largest number that the field may have.
-- names: the names of the numbers. The first name is that of `low`. Null: the field has
-- no names.
-- Result:
--   members: a bit set of the numbers that match. Null: the item is wrong.
--   why: if `members` is null, what is wrong with the item.
-- Locks: none.

create function readpast.parse_item(item text, low integer, high integer,
                                    names text[],
                                    out members bigint, out why text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	word  text := '([0-9]{1,3}|[A-Za-z]{3})';
	parts text[] := regexp_match(item, format('^(?:[*]|%1$s(?:-%1$s)?)(?:/(.*))?$',
	                                          word));
	first integer := readpast.spec_number(parts[1], low, high, names);
	last  integer := readpast.spec_number(parts[2], low, high, names);
	step  text := parts[3];
begin
	if last = 0 and first > 0 and high = 7 then
		last := 7; -- FRI-SUN is 5-7, not 5-0
	end if;
	if item = '' then
		why := 'a comma needs a value before it and after it';
	elsif parts is null or (first is null) <> (parts[1] is null)
	      or (last is null) <> (parts[2] is null) then
		why := format('expected %s to %s', low, high)
			|| case when names is null then ''
			        else ', or three letters of a name' end;
	elsif last < first then
		why := 'runs backwards: write two ranges, such as 22-23,0-2 for 22-2';
	elsif step is not null and first is not null and last is null then
		why := 'a step needs a range, such as */10 or 5-59/10';
	elsif step !~ '^[0-9]+$' or step ~ '^0{1,3}$' then
		why := 'expected a step of 1 or more';
	elsif length(step) > 3 or step::integer > high - low + 1 then
		why := 'the step is longer than the field''s range: for a longer '
			'interval, write "every 90m"';
	else
		select bit_or(1::bigint << n) into members
		  from generate_series(coalesce(first, low),
		                       coalesce(last, first, high),
		                       coalesce(step::integer, 1)) n;
	end if;
end
$body$;
