-- pause: pause a queue: jobs can be enqueued, and none is handed out.
--
-- queue: its name; reason: for people, shown wherever the queue is shown as paused;
-- may be null.
-- Result: none.
-- RP005: there is no such queue. RP003: the reason is not valid.
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
