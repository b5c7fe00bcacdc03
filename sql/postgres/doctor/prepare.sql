-- prepare: somebody prepares transactions in this database. One that enqueued while a
-- worker waits has notified it, and such a transaction cannot be prepared.

select count(*) as prepared
  from pg_prepared_xacts p
 where p.database = current_database()
having count(*) > 0;
