-- queue_pause: A paused queue takes jobs and hands none out; when it was paused
-- first stays. Answers the queue's id, or nothing.

create function readpast.queue_pause(queue text, paused boolean)
returns setof integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return query
	update readpast.queue q
	   set paused_at = case when queue_pause.paused
	                        then coalesce(q.paused_at, clock_timestamp()) end
	 where q.name = queue_pause.queue
	returning q.id;
	if not paused then
		perform readpast.wake(q.id)
		   from readpast.queue q where q.name = queue_pause.queue;
	end if;
end
$body$;
