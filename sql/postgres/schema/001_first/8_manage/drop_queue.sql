-- drop_queue: delete a queue and its jobs, or raise an error that says why this is not
-- possible.
-- queue: the name of the queue.
-- Result: none. SQLSTATE RP005: there is no such queue. SQLSTATE RP006: the queue is in
-- use, see is_worked_on().
-- Locks: the queue's row, and the rows of its jobs and schedules. If another
-- transaction has locked one of these jobs, the call does not wait, and the queue
-- counts as in use.

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
		raise exception 'queue % is in use: wait for its running jobs or cancel them, and '
			'end transactions that have locked its jobs', queue
			using errcode = 'RP006';
	end if;
end
$body$;
