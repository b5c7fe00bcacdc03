-- schedule_set: add a schedule, or change the schedule of this name.
-- name: the name of the schedule.
-- queue, payload, kind, headers, priority: the fields of the schedule's jobs.
-- spec: when the schedule fires, see docs/schedules.md.
-- zone: the time zone of the spec.
-- missed: what happens for times at which no client fired the schedule. `once`: one job
-- for all of them. `all`: a job for each. `skip`: no job.
-- overlap: `allow`: each fire adds a job. `skip`: no job is added while a job of this
-- schedule is live.
-- replace: true to change an existing schedule of this name. The time of its next fire
-- stays the same, unless the spec or the zone changes.
-- Result: the time of the next fire. SQLSTATE RP003: an argument is wrong, or the
-- schedule never fires. SQLSTATE RP006: there is a schedule of this name, and `replace`
-- is false.
-- Locks: the schedule's row. The call waits for an open transaction that adds a
-- schedule of this name.

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
