-- clear_hold: end the hold of a queue or of one of its groups.
-- queue: the name of the queue.
-- group_key: the group. Null: the hold of the whole queue.
-- Result: none. SQLSTATE RP003: the group's name is not valid. SQLSTATE RP005: there is
-- no such queue.
-- Locks: the rows that hold_for() locks.

create function readpast.clear_hold(queue text, group_key text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.hold_for(queue, group_key, null);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;
