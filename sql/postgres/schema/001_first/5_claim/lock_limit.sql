-- lock_limit: take the lock that a claim from a queue with a run_limit or a rate holds
-- until its transaction ends. So claims count running jobs and starts one at a time.
-- queue_id: the queue.
-- Result: true if the lock was taken. False if another transaction has not released the
-- lock within 50 ms. In this case the caller claims nothing. The routine does not wait
-- longer, because a client may keep its transaction open for long after a claim.
-- Locks: the advisory lock of the queue.

create function readpast.lock_limit(queue_id integer) returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $body$
begin
	if pg_try_advisory_xact_lock(readpast.limit_lock(), queue_id) then
		return true;
	end if;
	begin
		perform pg_advisory_xact_lock(readpast.limit_lock(), queue_id);
		return true;
	exception when lock_not_available then
		return false;
	end;
end
$body$;
