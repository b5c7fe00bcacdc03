-- next_match: return the first minute of local time that matches the spec of a
-- schedule. rp__spec_next() of lib/cron/ does the same.
-- sets: the parsed spec, see the column `sets` of the table `schedule`.
-- at: the first minute to check.
-- Result: the minute, or null if no minute within 400 years matches.
-- Locks: none.

create function readpast.next_match(sets bigint[], at timestamp)
returns timestamp
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	day    date := at::date;
	start  integer := extract(hour from at) * 60 + extract(minute from at);
	last   date := (at + interval '400 years')::date;
	hour   integer;
	minute integer;
	in_month   boolean;
	in_weekday boolean;
begin
	while day <= last loop
		if sets[4] >> extract(month from day)::integer & 1 = 0 then
			day := date_trunc('month', day::timestamp) + interval '1 month';
			start := 0;
			continue;
		end if;
		in_month := sets[3] >> extract(day from day)::integer & 1 = 1;
		in_weekday := sets[5] >> extract(dow from day)::integer & 1 = 1;
		if in_month and in_weekday
		   or sets[6] = 1 and (in_month or in_weekday) then
			hour := start / 60;
			minute := start % 60;
			while hour < 24 loop
				while sets[2] >> hour & 1 = 1 and minute < 60 loop
					if sets[1] >> minute & 1 = 1 then
						return day + make_interval(hours => hour,
						                           mins => minute);
					end if;
					minute := minute + 1;
				end loop;
				hour := hour + 1;
				minute := 0;
			end loop;
		end if;
		day := day + 1;
		start := 0;
	end loop;
	return null;
end
$body$;
