-- note_expiry: record when jobs expire, for the sweep.
-- expire_at: the time. Null: the jobs do not expire.
-- first_id, last_id: the ids of the jobs are in this range. Other jobs may have ids in
-- this range, too.
-- Result: none.
-- Locks: none.

create function readpast.note_expiry(expire_at timestamptz, first_id bigint,
                                     last_id bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if expire_at is not null then
		insert into readpast.expiry (expire_at, first_id, last_id)
		values (note_expiry.expire_at, note_expiry.first_id, note_expiry.last_id);
	end if;
end
$body$;
