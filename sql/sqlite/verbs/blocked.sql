-- blocked: which of these jobs has another transaction locked? Always no row, because
-- SQLite has no row locks.

-- answer:
select :id as id where 0;
