-- hold_for: hold a queue or one of its groups, or end the hold. While a queue or group
-- is held, no claim takes its jobs. Running jobs go on.
-- queue: the name of the queue.
-- group_key: the group. Null: the whole queue.
-- for_ms: how long the hold lasts, from now. Null: end the hold.
-- joined: see hold_group().
-- Rows: the queue's id, or no row if there is no such queue. SQLSTATE RP003: the
-- group's name is not valid.
-- Locks: the queue's row, the row of the hold, and ready jobs of the group that have a
-- slot, see hold_group(). Jobs that other transactions have locked are skipped.

create function readpast.hold_for(queue text, group_key text, for_ms bigint,
                                  joined boolean default null)
returns setof integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	til timestamptz := clock_timestamp() + readpast.ms(for_ms);
	its integer;
begin
	perform readpast.need_name('the group', group_key, :most_key);
	update readpast.queue q
	   set held_until = case when group_key is null then til else q.held_until end,
	       holds_until = case when group_key is null then q.holds_until
	                          else greatest(q.holds_until, til) end
	 where q.name = queue
	returning q.id into its;
	if its is null then
		return;
	elsif group_key is not null then
		perform readpast.hold_group(its, group_key, til, joined);
	end if;
	perform readpast.wake(its) where til is null;
	return next its;
end
$body$;
