-- has_other_admissions: has another open transaction locked groups of a queue by
-- lock_groups()? The routine waits up to 50 ms for such transactions. In this time
-- lock_groups() locks no further groups of the queue.
-- queue_id: the queue.
-- Result: false if all transactions that had locked groups when the routine was called
-- are over.
-- Locks: the advisory lock of the queue. The routine gives it back before it returns.

create function readpast.has_other_admissions(queue_id integer) returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $body$
begin
	perform pg_advisory_xact_lock(hashtext('readpast.group_limit'), queue_id);
	-- The error ends this block, and PostgreSQL gives back the locks of the block.
	raise exception 'the lock is not needed any more' using errcode = 'RP000';
exception
	when lock_not_available or deadlock_detected then return true;
	when sqlstate 'RP000' then return false;
end
$body$;
