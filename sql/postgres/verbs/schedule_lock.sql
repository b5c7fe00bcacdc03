-- schedule_lock: lock a schedule, so that no other transaction changes or removes it
-- before this transaction ends.

select id
  from readpast.schedule
 where name operator(pg_catalog.=) :name
   for no key update;
