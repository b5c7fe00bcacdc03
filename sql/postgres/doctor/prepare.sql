-- prepare: some program prepares transactions in this database. A transaction that
-- enqueues while a worker waits notifies it, and the server refuses to prepare it then.

select count(*) as prepared
  from pg_prepared_xacts p
 where p.database = current_database()
having count(*) > 0;
