-- group_lock: return the number that identifies the advisory lock of a group, see
-- lock_groups(). Two groups may have the same number. Then they share a lock, which
-- does no harm.
-- queue_id, group_key: the group. '' stands for all groups of the queue.
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
