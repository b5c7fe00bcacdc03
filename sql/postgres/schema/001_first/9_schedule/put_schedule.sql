-- put_schedule: add a schedule. If there is a schedule of this name and `replace` is
-- true, that schedule gets the new values.
-- name .. next_at: values of the table `schedule`, which the caller has checked.
-- Rows: one with the schedule's id, or none if the name exists and `replace` is false.
-- Locks: the row of the schedule that is changed. The call waits for an open
-- transaction that adds a schedule of this name.

create function readpast.put_schedule(
	name text, queue text, spec text, zone text, sets bigint[], content bytea,
	kind text, headers json, priority integer, missed integer, overlap integer,
	anchor timestamptz, next_at timestamptz, replace boolean)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	return query
	insert into readpast.schedule as s
	       (name, queue, spec, zone, sets, content, kind, headers, priority,
	        missed, overlap, anchor, next_at, created_at)
	values (put_schedule.name, put_schedule.queue, put_schedule.spec,
	        readpast.need_zone(put_schedule.zone), put_schedule.sets,
	        put_schedule.content, put_schedule.kind, put_schedule.headers,
	        put_schedule.priority, put_schedule.missed, put_schedule.overlap,
	        put_schedule.anchor, put_schedule.next_at, clock_timestamp())
	    on conflict (name) do update
	   set queue = excluded.queue, spec = excluded.spec, zone = excluded.zone,
	       sets = excluded.sets, content = excluded.content,
	       kind = excluded.kind, headers = excluded.headers,
	       priority = excluded.priority, missed = excluded.missed,
	       overlap = excluded.overlap, anchor = excluded.anchor,
	       next_at = excluded.next_at,
	       retry_at = case when s.next_at = excluded.next_at then s.retry_at end,
	       last_error = case when s.next_at = excluded.next_at or s.retry_at is null
	                         then s.last_error end
	 where put_schedule.replace
	returning s.id;
end
$body$;
