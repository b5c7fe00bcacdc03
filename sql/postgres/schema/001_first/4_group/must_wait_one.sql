-- must_wait_one: decide whether a single ready job must wait for its group, see
-- must_wait().
-- queue_id: the queue.
-- group_key: the group of the job.
-- joined: see stays_open().
-- Result:
--   requests: see must_wait().
--   epoch, came: the job's slot_epoch and came, see the type `extra`. If the job must
--     wait, came is not null.
-- Locks: the locks of lock_groups().

create function readpast.must_wait_one(queue_id integer, group_key text, joined boolean,
                                       out requests text[], out epoch bigint,
                                       out came bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	select m.requests, case when m.waits[1] is null then m.epoch end,
	       case when m.waits[1] then nextval('readpast.line') end
	  into requests, epoch, came
	  from readpast.must_wait(queue_id, array[group_key], joined) m;
end
$body$;
