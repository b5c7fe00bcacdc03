-- prepare: this database has prepared transactions, so some program uses two-phase
-- commit. The server refuses to prepare a transaction that has sent a notification, and
-- an enqueue sends one if a worker waits.

select count(*) as prepared
  from pg_prepared_xacts p
 where p.database = current_database()
having count(*) > 0;
