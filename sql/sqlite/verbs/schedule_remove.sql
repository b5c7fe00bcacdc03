-- schedule_remove: remove a schedule. Its jobs stay.

-- answer:
delete from readpast_schedule where name = :name returning id;
