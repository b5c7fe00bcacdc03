-- schedule_remove: delete a schedule. Its jobs stay.

delete from readpast.schedule
 where name operator(pg_catalog.=) :name
returning id;
