-- is_dead_loop: would a copy of a job that dies in a queue come back to that queue,
-- perhaps by way of other queues? If so, a job could die again and again without end.
-- queue: the name of the queue.
-- dead_to: the new value of the queue's setting dead_to, or null.
-- Result: true or false.
-- Locks: none.

create function readpast.is_dead_loop(queue text, dead_to text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return exists (
		with recursive chain(name) as (
			select is_dead_loop.dead_to
			 union
			select q.dead_to
			  from chain c
			  join readpast.queue q on q.name = c.name
			 where q.dead_to is not null)
		select 1 from chain c where c.name = is_dead_loop.queue);
end
$body$;
