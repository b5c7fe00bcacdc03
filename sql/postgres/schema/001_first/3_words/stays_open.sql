-- stays_open: may this transaction stay open after the current statement?
-- joined: what the caller knows: true if the transaction may stay open, false if it ends
-- with this statement. Null: the caller does not know. Then the routine compares the
-- times at which the transaction and the statement began. They are equal only if the
-- statement is the first of its transaction, or was sent in one text with all statements
-- before it, and has no parameters that a driver sends apart from it. If they differ, the
-- transaction is assumed to stay open.
-- Result: true or false.
-- Locks: none.

create function readpast.stays_open(joined boolean) returns boolean
language sql volatile as $body$
select coalesce(stays_open.joined, pg_catalog.now() operator(pg_catalog.<>)
                                   pg_catalog.statement_timestamp())
$body$;
