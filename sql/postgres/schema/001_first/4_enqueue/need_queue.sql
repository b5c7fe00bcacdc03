-- need_queue: after an enqueue that found no queue, or none that takes its payloads:
-- create the queue unless it exists by now. Then the caller tries again.
-- queue: its name; largest: the size of the largest payload.
-- Result: none; RP004 if the queue takes no payload of that size, RP003 if no
-- queue can have this name.
-- Locks: see queue_create().

create function readpast.need_queue(queue text, largest bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	most bigint;
begin
	-- Another session may have created it, or dropped and created it, since the
	-- caller looked. So the test is for the size and not for the queue's existence.
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
