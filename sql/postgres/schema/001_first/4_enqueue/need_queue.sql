-- need_queue: create a queue unless it exists. An enqueue calls this routine when
-- find_queue() has returned no row, and then calls find_queue() again.
-- queue: the name of the queue.
-- largest: the size of the largest payload, in bytes.
-- Result: none. SQLSTATE RP004: the payload is too large for the queue. SQLSTATE RP003:
-- the name is not valid.
-- Locks: no existing row. The call waits for an open transaction that creates the same
-- queue.

create function readpast.need_queue(queue text, largest bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	most bigint;
begin
	-- The caller has found no queue that takes this payload. Fail if the queue
	-- exists and the payload is too large for it. If the queue exists and takes the
	-- payload, another session has just created it.
	select q.max_payload into most
	   from readpast.queue q
	  where q.name = need_queue.queue and q.max_payload < largest;
	if found then
		raise exception 'payload too large: % bytes, queue % takes at most % (max_payload)',
			largest, queue, most using errcode = 'RP004';
	end if;
	perform readpast.queue_create(queue);
end
$body$;
