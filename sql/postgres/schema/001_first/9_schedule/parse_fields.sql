-- parse_fields: parse the five fields of a schedule's spec. parse_fields() of
-- lib/cron/spec.c does the same.
-- spec: the text of the spec, for the error message.
-- fields: the five fields as texts, the minutes first.
-- Result: the value of the column `sets` of the table `schedule`. SQLSTATE RP003: a
-- field is wrong.
-- Locks: none.

create function readpast.parse_fields(spec text, fields text[]) returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	months   text[] := '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}';
	weekdays text[] := '{SUN,MON,TUE,WED,THU,FRI,SAT}';
	sets     bigint[] := '{0,0,0,0,0}';
	its      record;
	item     text;
	parsed   record;
begin
	if cardinality(fields) <> 5 then
		perform readpast.bad_spec(spec, format(
			'%s field%s, expected five: minute, hour, day of month, month, weekday',
			cardinality(fields),
			case when cardinality(fields) <> 1 then 's' else '' end));
	end if;
	for its in select *
	  from (values (1, 'minute', 0, 59, null), (2, 'hour', 0, 23, null),
	               (3, 'day of month', 1, 31, null), (4, 'month', 1, 12, months),
	               (5, 'weekday', 0, 7, weekdays)) f(n, title, low, high, names)
	loop
		foreach item in array string_to_array(fields[its.n], ',') loop
			parsed := readpast.parse_item(item, its.low, its.high, its.names);
			if parsed.why is not null then
				perform readpast.bad_spec(spec, format(
					'%s: %s', concat_ws(' ', its.title,
					                    nullif(left(item, 40), '')), parsed.why));
			end if;
			sets[its.n] := sets[its.n] | parsed.members;
		end loop;
	end loop;
	sets[5] := (sets[5] | (sets[5] >> 7)) & 127; -- 0 and 7 are Sunday
	return sets || array[
		(fields[3] !~ '^[*]' and fields[5] !~ '^[*]')::integer,
		(fields[1] ~ '^[*]' or fields[2] ~ '^[*]')::integer, 0]::bigint[];
end
$body$;
