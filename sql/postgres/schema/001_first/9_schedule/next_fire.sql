-- next_fire: return the time of the first fire of a schedule after a given time.
-- rp__schedule_next() of lib/cron/ does the same.
-- sets, zone, anchor: the columns of the table `schedule`.
-- after: the given time.
-- Result: the time of the fire. Null: there is none within 400 years.
-- Locks: none.

create function readpast.next_fire(sets bigint[], zone text,
                                   anchor timestamptz, after timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	seen  timestamptz := after; -- no fire is between `after` and this time
	ahead interval;             -- how far local time is ahead of UTC at `seen`
	first timestamp;            -- the first minute of local time to check
	last  timestamp;            -- the last minute of local time to check
	local timestamp;            -- the first matching minute from `first` on
	at    timestamptz;          -- `local` in UTC, if the offset does not change
	near  timestamptz;          -- `at`, but at most one day after `seen`
begin
	if sets[8] > 0 then
		return anchor + readpast.ms(sets[8] * (1 + floor(
			greatest(readpast.to_ms(after - anchor), 0)::numeric / sets[8])::bigint));
	end if;
	ahead := readpast.offset_at(zone, seen);
	first := date_trunc('minute', (seen at time zone 'UTC') + ahead)
	         + interval '1 minute';
	last := first + interval '400 years';
	loop
		local := readpast.next_match(sets, first);
		if local is null or local > last then
			return null;
		end if;
		at := (local - ahead) at time zone 'UTC';
		near := least(at, seen + interval '1 day');
		if readpast.offset_at(zone, near) <> ahead then
			seen := readpast.change_before(zone, seen, near);
		elsif near < at then
			-- The offset from UTC never changes by more than a day. So the
			-- next fire is not earlier than a day before `at`.
			seen := at - interval '1 day';
		elsif sets[7] = 0 and readpast.is_second_time(zone, at) then
			seen := at;
			first := local + interval '1 minute';
			continue;
		else
			return at;
		end if;
		ahead := readpast.offset_at(zone, seen);
		first := readpast.next_minute((seen at time zone 'UTC') + ahead);
	end loop;
end
$body$;
