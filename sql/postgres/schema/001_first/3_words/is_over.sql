-- is_over: has the transaction `waits_for` ended? A row of the table `recheck` may name
-- such a transaction, and a sweep handles the row only after this transaction has
-- ended. An id that this cluster has not yet assigned counts as ended, because a row
-- with such an id was restored from a dump of another cluster. The planner inlines this
-- function into the calling statement.
-- waits_for: the transaction's id. Null: the row waits for no transaction, and the
-- result is true.
-- seen: a snapshot of the calling transaction.
-- Result: true or false.
-- Locks: none.

create function readpast.is_over(waits_for pg_catalog.xid8,
                                 seen pg_catalog.pg_snapshot)
returns boolean
language sql immutable as $body$
select waits_for is null
       or pg_catalog.pg_visible_in_snapshot(waits_for, seen)
       or waits_for operator(pg_catalog.>=) pg_catalog.pg_snapshot_xmax(seen)
$body$;
