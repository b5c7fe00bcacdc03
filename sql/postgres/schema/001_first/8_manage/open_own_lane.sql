-- open_own_lane: trigger: open the lane for jobs that name no priority, whenever a queue
-- is created or its priority is set, by a routine or by plain SQL. So an enqueue
-- that names no priority need not check for its lane. `queue` changes rarely, and only a
-- change of `priority` fires the trigger.
-- Result: none (null, as a trigger that runs after the change).
-- Locks: none.

create function readpast.open_own_lane() returns trigger
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.open_lane(new.lane_id);
	-- A session plans a statement once. While there are few queues the plan may be
	-- a scan of all of them, and a session that creates thousands would keep that
	-- plan until autovacuum has analyzed the table: 30,000 enqueues into 10,000 new
	-- queues took two minutes. Planning again now and then costs 0.1 ms a queue.
	if new.id % readpast.replan_every() = 0 then
		discard plans;
	end if;
	return null;
end
$body$;

create trigger open_own_lane after insert or update of priority
on readpast.queue for each row execute function readpast.open_own_lane();
