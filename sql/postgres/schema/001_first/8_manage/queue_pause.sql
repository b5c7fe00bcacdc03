-- queue_pause: pause a queue, or end its pause. If the queue is paused already, the
-- start of its pause does not change. The reason changes if a new reason is given.
-- queue: the name of the queue.
-- paused: true to pause the queue, false to end the pause.
-- reason: a text for people, or null.
-- Rows: the queue's id, or no row if there is no such queue. SQLSTATE RP003: the reason
-- is not valid.
-- Locks: the queue's row.

create function readpast.queue_pause(queue text, paused boolean,
                                     reason text default null)
returns setof integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.need_name('the reason', reason, :most_reason);
	return query
	update readpast.queue q
	   set paused_at = case when queue_pause.paused
	                        then coalesce(q.paused_at, clock_timestamp()) end,
	       pause_reason = case when queue_pause.paused
	                           then coalesce(queue_pause.reason,
	                                         q.pause_reason) end
	 where q.name = queue_pause.queue
	returning q.id;
	if not paused then
		perform readpast.wake(q.id)
		   from readpast.queue q where q.name = queue_pause.queue;
	end if;
end
$body$;
