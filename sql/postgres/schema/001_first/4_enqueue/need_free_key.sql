-- need_free_key: raise an error if a finished job keeps this unique key taken. The
-- caller has seen that the key was free, and has then inserted a job with this key.
-- Between these two steps, other clients may have enqueued and completed another job
-- with the key. After the insert this cannot happen, because no other client can insert
-- a job with the key while the caller's transaction is open.
-- A transaction above READ COMMITTED does not see a row of taken_key that was committed
-- after its snapshot. So it also tries to insert a row with the same key, which the server
-- refuses in this case. Otherwise the row stays until retention deletes it. It takes no
-- key, because its `until` is in the past.
-- queue_id, unique_key: the key.
-- Result: none. SQLSTATE 40001: the key is taken.
-- Locks: above READ COMMITTED a row of taken_key. The call waits for an open transaction
-- that changes the row of the same key.

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
	elsif readpast.has_taken_keys()
	      and pg_catalog.current_setting('transaction_isolation')
	          operator(pg_catalog.<>) 'read committed' then
		insert into readpast.taken_key (queue_id, unique_key, job_id, until)
		values (need_free_key.queue_id, need_free_key.unique_key, 0, '-infinity')
		    on conflict do nothing;
	end if;
end
$body$;
