-- locked_jobs: return the ids of those of the given jobs that another transaction has
-- locked. SQLite has no row locks, so this statement never returns a row.

-- answer:
select :id as id where 0;
