-- take_keys: record the unique keys of done jobs that keep their key for a while
-- (unique_for_ms).
-- keys: the keys, all different.
-- Locks: the existing rows of these keys, in the order of the keys.

create function readpast.take_keys(keys readpast.taken_key[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.taken_key as k (queue_id, unique_key, job_id, until)
	select t.queue_id, t.unique_key, t.job_id, t.until
	  from unnest(keys) as t
	 order by t.queue_id, t.unique_key
	    on conflict (queue_id, unique_key)
	    do update set job_id = excluded.job_id, until = excluded.until;
end
$body$;
