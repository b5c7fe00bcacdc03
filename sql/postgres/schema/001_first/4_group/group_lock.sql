-- group_lock: return the number that identifies the advisory lock of a group. A
-- transaction that gives slots of the group to further jobs holds this lock until it
-- ends, so that no two transactions count the group's slots at once. All take it by
-- pg_try_advisory_xact_lock(), so nobody waits for it. If two groups have the same
-- number, they only share the lock.
-- queue_id, group_key: the group.
-- Result: the number.
-- Locks: none.

create function readpast.group_lock(queue_id integer, group_key text)
returns bigint
language sql immutable as $body$
select pg_catalog.hashtextextended(
           group_key,
           pg_catalog.hashtext('readpast.group_slot')
           operator(pg_catalog.+) queue_id::bigint)
$body$;
