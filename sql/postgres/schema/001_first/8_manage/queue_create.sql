-- queue_create: create a queue with the default settings, unless it exists.
-- queue: the name of the queue.
-- Result: true if the queue is new. SQLSTATE RP003: the name is not valid.
-- Locks: no existing row. The call waits for an open transaction that creates the same
-- queue.

create function readpast.queue_create(queue text) returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.need_name('the queue''s name', queue, :most_name, true);
	insert into readpast.queue (name)
	select queue_create.queue
	 where not exists (select 1 from readpast.queue q
	                    where q.name = queue_create.queue)
	    on conflict do nothing;
	return found;
end
$body$;
