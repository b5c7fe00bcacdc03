-- schedule_set: add a schedule, or change the one of this name.
-- name: of the schedule, unique in the schema; queue, payload, kind, headers, priority: of
-- its jobs; spec: when, see docs/schedules.md; zone: the time zone in which the spec is
-- meant; missed: `once`, `all` or `skip`; overlap: `allow`, or `skip`: no job while one is
-- live; replace: change the schedule of this name. It keeps its next time, unless the spec
-- or the zone is another.
-- Result: when it fires next. RP003: an argument is wrong, or the schedule never fires;
-- RP006: there is one of this name, and `replace` is false.
-- Locks: that schedule's row. It waits for an open transaction that adds the name.

create function readpast.schedule_set(
	name text, queue text, spec text, payload bytea, zone text default 'UTC',
	kind text default null, headers jsonb default null,
	priority integer default null, missed text default 'once',
	overlap text default 'allow', replace boolean default false)
returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	sets bigint[] := readpast.parse_spec(spec);
	old  readpast.schedule;
begin
	perform readpast.check_schedule(name, queue, payload, kind, headers, priority,
	                                missed, overlap),
	        readpast.need_zone(zone);
	select * into old from readpast.schedule s
	 where s.name = schedule_set.name and replace
	   for update;
	if (old.spec, old.zone) is distinct from (spec, zone) then
		old.anchor := date_trunc('milliseconds', clock_timestamp());
		old.next_at := null;
	end if;
	if old.next_at is null then
		old.next_at := readpast.next_fire(
			sets, zone, old.anchor,
			date_trunc('milliseconds', clock_timestamp()));
	end if;
	if old.next_at is null then
		perform readpast.bad_spec(spec, format('never fires in %s', zone));
	end if;
	perform readpast.put_schedule(
		name, queue, spec, zone, sets, payload, kind, headers::json, priority,
		array_position('{once,all,skip}'::text[], missed) - 1,
		array_position('{allow,skip}'::text[], overlap) - 1, old.anchor,
		old.next_at, replace);
	if not found then
		raise exception 'there is a schedule named % (replace => true changes it)',
			name using errcode = 'RP006';
	end if;
	return old.next_at;
end
$body$;
