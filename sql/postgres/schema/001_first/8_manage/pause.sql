-- pause: pause a queue. Jobs can still be enqueued, but no job is handed out.
-- queue: the name of the queue.
-- reason: a text for people, or null. The text is shown with the queue while the queue
-- is paused.
-- Result: none. SQLSTATE RP005: there is no such queue. SQLSTATE RP003: the reason is
-- not valid.
-- Locks: the queue's row.

create function readpast.pause(queue text, reason text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.queue_pause(queue, true, reason);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;
