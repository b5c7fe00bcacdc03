-- queue_set: change settings of a queue. The queue is created if it does not exist.
-- queue: the name of the queue.
-- max_attempts .. timeout: the new settings. Null leaves a setting as it is.
-- dead_to: the queue that gets a copy of each job that dies. That queue is created if
-- it does not exist. An empty text ends this setting.
-- run_limit: how many jobs of the queue may run at once. 0: any number.
-- group_limit .. per: the parameters of set_limits().
-- Result: none. SQLSTATE RP003: an argument is wrong. SQLSTATE 25001: the transaction is
-- above READ COMMITTED, and the queue gets its first limit.
-- Locks: the queue's row. The call waits for an open transaction that creates the same
-- queue. If the queue has no run_limit yet and gets one, the call also takes the lock
-- of lock_limit(), for which it waits. If one of the last four parameters is given, it
-- also takes the locks of set_limits().

create function readpast.queue_set(
	queue text, max_attempts integer default null,
	lease interval default null, backoff interval default null,
	backoff_max interval default null, priority integer default null,
	keep_done interval default null, keep_dead interval default null,
	max_payload bigint default null, timeout interval default null,
	dead_to text default null, run_limit integer default null,
	group_limit integer default null, group_on_failure text default null,
	rate integer default null, per interval default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.check_settings(priority, max_attempts);
	if readpast.is_bad_lease(lease) then
		raise exception 'the lease is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	elsif readpast.is_bad_delay(backoff) or readpast.is_bad_delay(backoff_max)
	      or readpast.is_bad_delay(keep_done)
	      or readpast.is_bad_delay(keep_dead)
	      or readpast.is_bad_delay(timeout) then
		raise exception 'backoff, backoff_max, keep_done, keep_dead and timeout '
			'must be within 0..:most_days days' using errcode = 'RP003';
	elsif max_payload not between 0 and :most_payload then
		raise exception 'max_payload is not within 0..:most_payload bytes'
			using errcode = 'RP003';
	elsif run_limit not between 0 and :most_limit then
		raise exception 'run_limit is not within 0..:most_limit' using errcode = 'RP003';
	elsif readpast.is_dead_loop(queue, dead_to) then
		raise exception 'dead_to: copies of jobs that die in queue % would come back to it',
			queue using errcode = 'RP003';
	end if;
	perform readpast.queue_create(queue);
	perform readpast.queue_create(dead_to) where dead_to <> '';
	perform readpast.start_limit(queue) where run_limit > 0;
	if num_nonnulls(group_limit, group_on_failure, rate, per) > 0 then
		perform readpast.set_limits(queue, group_limit, group_on_failure, rate, per);
	end if;
	update readpast.queue q
	   set max_attempts   = coalesce(queue_set.max_attempts, q.max_attempts),
	       lease_ms       = coalesce(readpast.to_ms(lease), q.lease_ms),
	       backoff_ms     = coalesce(readpast.to_ms(backoff), q.backoff_ms),
	       backoff_max_ms = coalesce(readpast.to_ms(backoff_max),
	                                 q.backoff_max_ms),
	       priority       = coalesce(queue_set.priority, q.priority),
	       keep_done_ms   = coalesce(readpast.to_ms(keep_done),
	                                 q.keep_done_ms),
	       keep_dead_ms   = coalesce(readpast.to_ms(keep_dead),
	                                 q.keep_dead_ms),
	       max_payload    = coalesce(queue_set.max_payload, q.max_payload),
	       timeout_ms     = coalesce(readpast.to_ms(timeout), q.timeout_ms),
	       dead_to        = nullif(coalesce(queue_set.dead_to, q.dead_to), ''),
	       run_limit      = coalesce(queue_set.run_limit, q.run_limit)
	 where q.name = queue_set.queue;
end
$body$;
