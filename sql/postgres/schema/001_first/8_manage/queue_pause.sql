-- queue_pause: pause a queue, or end its pause. If the queue is paused already, the
-- start of its pause does not change. The reason changes if a new reason is given. When
-- the pause ends, ready jobs that may not run now leave the ready line. A copy of a queue
-- has such jobs, because it has no slots (the right of one job to run).
-- queue: the name of the queue.
-- paused: true to pause the queue, false to end the pause.
-- reason: a text for people, or null.
-- joined: see stays_open(). If the transaction may stay open, claims and sweeps carry out
-- the recheck requests, because this transaction would hold the locks of groups for too
-- long.
-- Rows: the queue's id, or no row if there is no such queue. SQLSTATE RP003: the reason
-- is not valid.
-- Locks: the queue's row and, when the pause ends, the rows that wake() locks, and the
-- locks of leave_line() and admit_requested().

create function readpast.queue_pause(queue text, paused boolean,
                                     reason text default null,
                                     joined boolean default null)
returns setof integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its record;
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
		select q.id, q.group_limit > 0
		             and current_setting('transaction_isolation') = 'read committed'
		             as examines
		  into its
		  from readpast.queue q where q.name = queue_pause.queue;
		if its.examines then
			perform readpast.leave_line(its.id);
			perform readpast.admit_requested(its.id)
			  where not readpast.stays_open(joined);
		end if;
		perform readpast.wake(its.id);
	end if;
end
$body$;
