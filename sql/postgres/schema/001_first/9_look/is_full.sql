-- is_full: does a limit, a rate or a hold keep every job of a queue from starting now?
-- If so, the jobs of the queue's ready line are shown as blocked.
-- queue_id: the queue.
-- Result: true or false.
-- Locks: none.

create function readpast.is_full(queue_id integer) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return (select q.held_until > clock_timestamp()
	               or q.run_limit > 0
	                  and readpast.slots_held(q.id) >= q.run_limit
	               or q.rate_count > 0
	                  and readpast.rate_in_ms(q.id, q.rate_count, q.rate_ms) > 0
	          from readpast.queue q
	         where q.id = is_full.queue_id) is true;
end
$body$;
