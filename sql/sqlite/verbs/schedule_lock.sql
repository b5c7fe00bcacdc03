-- schedule_lock: find a schedule. The transaction has locked the database already.

-- answer:
select id from readpast_schedule where name = :name;
