-- hold: hold a queue or one of its groups. While a queue or group is held, none of its
-- jobs starts, but running jobs go on. A new hold replaces an earlier one.
-- queue: the name of the queue.
-- duration: how long the hold lasts, from now.
-- group_key: the group, which need not have a job. Null: the whole queue.
-- Result: none. SQLSTATE RP003: an argument is wrong. SQLSTATE RP005: there is no such
-- queue.
-- Locks: the rows that hold_for() locks.

create function readpast.hold(queue text, duration interval,
                              group_key text default null) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if duration is null or readpast.is_bad_lease(duration) then
		raise exception 'the hold is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	end if;
	perform readpast.hold_for(queue, group_key, readpast.to_ms(duration));
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;
