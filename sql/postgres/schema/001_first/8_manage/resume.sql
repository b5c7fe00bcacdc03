-- resume: end the pause of a queue.
-- queue: the name of the queue.
-- Result: none. SQLSTATE RP005: there is no such queue.
-- Locks: those of queue_pause().

create function readpast.resume(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.queue_pause(queue, false);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;
