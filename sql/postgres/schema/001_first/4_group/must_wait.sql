-- must_wait: decide which of the ready jobs that an enqueue is about to add may stand in
-- the ready line at once, and which must wait for their group.
-- Only a transaction that ends with this statement locks groups. One that stays open
-- would keep others from admitting jobs of the group. Its jobs wait, and a recheck
-- request that commits with them lets the next claim admit them.
-- queue_id: the queue.
-- group_keys: the group of each job, or null for a job without a group.
-- joined: true if this transaction may stay open. Null: true if this is not its first
-- statement.
-- Result: for each job true if it must wait. Null: no job must wait.
-- Locks: those of lock_groups().

create function readpast.must_wait(queue_id integer, group_keys text[],
                                   joined boolean) returns boolean[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	its    record;
	locked text[] := '{}';
begin
	select q.group_limit, q.holds_until > clock_timestamp() as any_held into its
	  from readpast.queue q
	 where q.id = must_wait.queue_id;
	if its.group_limit = 0 and its.any_held is not true then
		return null;
	elsif its.group_limit > 0 and not coalesce(joined, now() <> statement_timestamp())
	      and current_setting('transaction_isolation') = 'read committed' then
		locked := readpast.lock_groups(queue_id, array(
			select distinct g.name from unnest(group_keys) as g(name)
			 where g.name is not null));
	end if;
	return array(
		select r.name is not null and r.place > coalesce(f.room, 0)
		  from (select g.name, g.number,
		               row_number() over (partition by g.name order by g.number) as place
		          from unnest(group_keys) with ordinality as g(name, number)) r
		  left join (
		       select d.name,
		              case when its.any_held and readpast.is_held(must_wait.queue_id, d.name)
		                   then 0
		                   when its.group_limit = 0 then cardinality(group_keys)
		                   when exists (select 1 from readpast.group_wait w
		                                 where w.queue_id = must_wait.queue_id
		                                   and w.group_key = d.name) then 0
		                   else readpast.open_slots(must_wait.queue_id, d.name,
		                                            its.group_limit) end as room
		         from (select distinct g.name
		                 from unnest(case when its.group_limit = 0 then group_keys
		                                  else locked end) as g(name)) d) f
		    on f.name = r.name
		 order by r.number);
end
$body$;
