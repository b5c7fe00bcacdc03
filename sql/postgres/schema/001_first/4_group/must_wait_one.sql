-- must_wait_one: decide whether a single ready job must wait for its group, see
-- must_wait().
-- queue_id: the queue.
-- group_key: the group of the job.
-- joined: see stays_open().
-- Result:
--   requests: see must_wait().
--   epoch, came: the job's slot_epoch and came, see the table `job`. If the job must
--     wait, came is not null.
-- Locks: the locks of lock_groups().

create function readpast.must_wait_one(queue_id integer, group_key text, joined boolean,
                                       out requests text[], out epoch bigint,
                                       out came bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its       record;
	is_locked boolean := false;
begin
	select q.group_limit, q.group_epoch,
	       coalesce(q.holds_until > clock_timestamp(), false) as any_held
	  into its
	  from readpast.queue q
	 where q.id = must_wait_one.queue_id;
	if its.group_limit = 0 and not its.any_held then
		return;
	elsif its.group_limit > 0 and not readpast.stays_open(joined)
	      and current_setting('transaction_isolation') = 'read committed' then
		is_locked := readpast.lock_groups(queue_id, array[group_key]) <> '{}';
		select q.group_limit, q.group_epoch into its.group_limit, its.group_epoch
		  from readpast.queue q
		 where q.id = must_wait_one.queue_id;
	end if;
	requests := '{}';
	if (select r.n from readpast.room_in_group(queue_id, group_key, its.group_limit,
	                                           its.any_held, is_locked) r) > 0 then
		epoch := case when its.group_limit > 0 then its.group_epoch end;
	else
		came := nextval('readpast.line');
		requests := case when is_locked then requests else array[group_key] end;
	end if;
end
$body$;
