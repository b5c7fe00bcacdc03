-- schedule_set_text: schedule_set() for a payload that is text, stored as UTF-8.
-- Parameters: as of schedule_set().
-- Result: as of schedule_set().
-- Locks: those of schedule_set().

create function readpast.schedule_set(
	name text, queue text, spec text, payload text, zone text default 'UTC',
	kind text default null, headers jsonb default null,
	priority integer default null, missed text default 'once',
	overlap text default 'allow', replace boolean default false)
returns timestamptz
language sql volatile as $body$
select readpast.schedule_set(name, queue, spec,
                             pg_catalog.convert_to(payload, 'UTF8'),
                             zone, kind, headers, priority, missed, overlap,
                             replace)
$body$;
