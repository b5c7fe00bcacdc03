-- must_wait_one: must_wait() for a single job.
-- queue_id: the queue.
-- group_key: the group of the job.
-- joined: see must_wait().
-- Result:
--   waits: true if the job must wait.
--   requests: see must_wait().
--   epoch: the job's slot_epoch, see the type `extra`.
-- Locks: those of lock_groups().

create function readpast.must_wait_one(queue_id integer, group_key text, joined boolean,
                                       out waits boolean, out requests text[],
                                       out epoch bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	select coalesce(m.waits[1], false), m.requests,
	       case when not m.waits[1] then m.epoch end
	  into waits, requests, epoch
	  from readpast.must_wait(queue_id, array[group_key], joined) m;
end
$body$;
