-- drop_queue: remove a queue and its jobs, or raise an error that says why it
-- cannot be removed.
--
-- queue: its name.
-- Result: none.
-- RP005: there is no such queue; RP006: it is in use.
-- Locks: see queue_drop().

create function readpast.drop_queue(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	dropped record;
begin
	select * into dropped from readpast.queue_drop(queue);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	elsif dropped.busy then
		raise exception 'queue % is in use: let its running jobs end, or cancel '
			'them, and let transactions end that are at work on its jobs', queue
			using errcode = 'RP006';
	end if;
end
$body$;
