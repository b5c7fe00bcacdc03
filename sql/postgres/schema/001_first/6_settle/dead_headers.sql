-- dead_headers: make the headers of the copy that a dead job leaves in another queue.
-- These are the dead job's own headers and three more members, which name the dead job,
-- its queue and its error. The new members are appended as text and not with jsonb,
-- because jsonb refuses some headers that json accepts. An example is a number with an
-- exponent of a million.
-- headers: the headers of the dead job, or null.
-- id, queue, error: the dead job, the name of its queue, and its error.
-- Result: a JSON object. If two members have the same name, the last one counts.
-- Locks: none.

create function readpast.dead_headers(headers json, id bigint, queue text,
                                      error text)
returns json
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	its  text := btrim(coalesce(headers::text, '{}'), E' \t\n\r');
	more text := json_build_object('dead-id', id,
	                               'dead-queue', queue,
	                               'dead-error', error);
begin
	if btrim(its, E'{} \t\n\r') = '' then
		return more;
	end if;
	return left(its, -1) || ', ' || substr(more, 2);
end
$body$;
