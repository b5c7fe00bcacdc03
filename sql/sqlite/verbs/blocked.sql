-- blocked: those of the jobs that another transaction has locked: none, because SQLite has
-- no row locks.

-- answer:
select :id as id where 0;
