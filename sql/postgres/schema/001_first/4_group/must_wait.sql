-- must_wait: decide which of the ready jobs that an enqueue is about to add may enter
-- the ready line immediately, and which must wait for their group.
-- Only a transaction that ends with this statement locks groups. If a transaction that
-- stays open locked groups, no other transaction could admit jobs of these groups. So
-- the jobs of such a transaction wait, and its enqueue adds recheck requests. The next
-- claim carries out these requests and admits the jobs.
-- queue_id: the queue.
-- group_keys: the group of each job. Null: the job has no group, or is scheduled.
-- joined: see stays_open().
-- Result: all null if the queue has neither a group limit nor a held group. Otherwise:
--   waits: an element for each job, which is true if the job must wait, or else null.
--   requests: names of groups. The enqueue must add a recheck request for each of them,
--     because jobs of the group must wait and this transaction did not lock the group.
--   epoch: the slot_epoch of the jobs that need not wait, see the table `job`. Null:
--     the queue has no group limit, so these jobs need no slot.
-- For all jobs, in the order of the array, the caller draws a number from the sequence
-- `line`. The number is the `seq` of a job that enters the ready line, or the `came` of
-- a job that waits. So the numbers show which job of a group came first.
-- Locks: the locks of lock_groups().

create function readpast.must_wait(queue_id integer, group_keys text[],
                                   joined boolean, out waits boolean[],
                                   out requests text[], out epoch bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $body$
declare
	its    record;
	locked text[] := '{}';
begin
	select q.group_limit, q.group_epoch,
	       coalesce(q.holds_until > clock_timestamp(), false) as any_held
	  into its
	  from readpast.queue q
	 where q.id = must_wait.queue_id;
	if its.group_limit = 0 and not its.any_held then
		return;
	elsif its.group_limit > 0 and not readpast.stays_open(joined)
	      and current_setting('transaction_isolation') = 'read committed' then
		locked := readpast.lock_groups(queue_id, array(
			select distinct g.name from unnest(group_keys) as g(name)
			 where g.name is not null));
		-- The limit may have changed before the locks were taken, see limit_change.
		select q.group_limit, q.group_epoch into its.group_limit, its.group_epoch
		  from readpast.queue q
		 where q.id = must_wait.queue_id;
	end if;
	epoch := case when its.group_limit > 0 then its.group_epoch end;
	select array_agg(case when g.name is not null and p.place > g.room then true end
	                 order by p.number),
	       coalesce(array_agg(distinct g.name)
	                    filter (where g.name is not null and not g.is_locked
	                              and p.place > g.room), '{}')
	  into waits, requests
	  from (select d.name, d.numbers, l.name is not null as is_locked, r.n as room
	          from (select k.name, array_agg(k.number order by k.number) as numbers
	                  from unnest(group_keys) with ordinality as k(name, number)
	                 group by k.name) d
	          left join unnest(locked) as l(name) on l.name = d.name
	         cross join lateral readpast.room_in_group(
	                   must_wait.queue_id, d.name, its.group_limit, its.any_held,
	                   l.name is not null) r) g
	 cross join lateral unnest(g.numbers) with ordinality as p(number, place);
end
$body$;
