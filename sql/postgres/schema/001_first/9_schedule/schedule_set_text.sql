-- schedule_set_text: add or change a schedule whose jobs have a text payload. The
-- payload is stored as UTF-8.
-- name .. replace: the parameters of schedule_set().
-- Result: the result of schedule_set().
-- Locks: the rows that schedule_set() locks.

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
