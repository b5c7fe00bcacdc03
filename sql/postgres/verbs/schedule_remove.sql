-- schedule_remove: delete a schedule. The jobs that it enqueued stay.

delete from readpast.schedule
 where name operator(pg_catalog.=) :name
returning id;
