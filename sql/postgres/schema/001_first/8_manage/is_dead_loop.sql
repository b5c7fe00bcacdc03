-- is_dead_loop: tell whether a setting dead_to would lead back to its own queue,
-- perhaps by way of other queues. When a job dies, a copy of it is added to the queue
-- dead_to. So with such a loop a job could die again and again without end.
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
