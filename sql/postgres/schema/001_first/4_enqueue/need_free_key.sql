-- need_free_key: raise an error if a finished job keeps this unique key taken. The
-- caller has seen that the key was free, and has then inserted a job with this key.
-- Between these two steps, other clients may have enqueued and completed another job
-- with the key. After the insert this cannot happen, because no other client can insert
-- a job with the key while the caller's transaction is open.
-- queue_id, unique_key: the key.
-- Result: none. SQLSTATE 40001: the key is taken.
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
