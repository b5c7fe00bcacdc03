-- schedule_remove: remove a schedule. The jobs that it enqueued stay.

-- answer:
delete from readpast_schedule where name = :name returning id;
