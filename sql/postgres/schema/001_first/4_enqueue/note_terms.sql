-- note_terms: write what jobs with an expiry or a group need in other tables, after an
-- enqueue has added them.
-- queue_id: their queue.
-- requests: see note_new(). Null: no job of them needs a slot or waits.
-- expire_at: when they expire, or null.
-- first_id, last_id, created_at: see note_new(). The jobs that expire have ids in this
-- range, and other jobs may have, too.
-- Result: none.
-- Locks: none.

create function readpast.note_terms(queue_id integer, requests text[],
                                    expire_at timestamptz,
                                    first_id bigint, last_id bigint,
                                    created_at timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if expire_at is not null then
		insert into readpast.expiry (expire_at, first_id, last_id)
		values (note_terms.expire_at, note_terms.first_id, note_terms.last_id);
	end if;
	if requests is not null then
		perform readpast.note_new(queue_id, requests, first_id, last_id, created_at);
	end if;
end
$body$;
