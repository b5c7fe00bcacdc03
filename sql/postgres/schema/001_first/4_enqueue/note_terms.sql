-- note_terms: after an enqueue has added jobs that expire or have a group, write the
-- rows that these jobs need in other tables.
-- queue_id: the queue of the jobs.
-- requests: see note_new(). Null: none of the jobs needs a slot or waits for its group.
-- expire_at: when the jobs expire, or null.
-- first_id, last_id, created_at: see note_new(). The ids of the jobs are in this range.
-- Other jobs may have ids in this range, too.
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
