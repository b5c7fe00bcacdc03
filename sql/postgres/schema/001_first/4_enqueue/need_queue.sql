-- need_queue: create a queue unless it exists. Enqueues call it when find_queue()
-- answered no row, and then try again.
--
-- queue: its name; largest: the size of the largest payload.
-- Result: none; RP004 if the payload is too large for the queue, RP003 if no queue
-- can have this name.
-- Locks: see queue_create().

create function readpast.need_queue(queue text, largest bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	most bigint;
begin
	-- Since the caller looked, another session may have created the queue, or
	-- dropped it and created it again. So this tests the size, and not whether the
	-- queue exists.
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
