-- has_taken_keys: return whether the table `taken_key` may have rows. If the table has
-- no rows, an enqueue need not search it. The table has no rows until the first job
-- with unique_for is done. The size of the table's file answers the question, and costs
-- less than a search. The size does not depend on a snapshot, because a transaction
-- that adds a row makes the file larger before it commits.
-- Result: false only if there is no committed row.
-- Locks: none.

create function readpast.has_taken_keys() returns boolean
language sql volatile as $body$
select pg_catalog.pg_relation_size('readpast.taken_key', 'main')
       operator(pg_catalog.>) 0
$body$;
