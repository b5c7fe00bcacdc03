-- need_free_key: raise an error if a unique key is taken by a job that is done. The caller
-- has inserted a job with this key, after it saw that the key was free. Meanwhile another
-- job with the key may have been enqueued, run and done. None can be while the caller's
-- transaction is open: so what this routine sees stays true.
-- queue_id, unique_key: the key.
-- Result: none; SQLSTATE 40001 if it is taken.
-- Locks: none.

create function readpast.need_free_key(queue_id integer, unique_key text)
returns void
language plpgsql volatile
as $body$
declare
	holder bigint := readpast.key_holder(queue_id, unique_key);
begin
	if holder is not null then
		raise exception 'job % with the same unique key was enqueued and done '
			'at the same time: try again', holder using errcode = '40001';
	end if;
end
$body$;
