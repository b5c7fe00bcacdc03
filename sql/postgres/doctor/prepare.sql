-- prepare: return a row if this database has prepared transactions, which means that a
-- program uses two-phase commit. The server refuses to prepare a transaction that has
-- sent a notification. An enqueue sends a notification if a worker waits. So a program
-- that uses two-phase commit must turn notifications off before it enqueues, see
-- wake().

select count(*) as prepared, quote_ident(current_schema()) as schema
  from pg_prepared_xacts p
 where p.database = current_database()
having count(*) > 0;
