-- now: the database's clock, milliseconds since 1970 UTC.
-- All verbs have it as :now, read once per run, after the write lock was
-- taken: however long a writer waited, its times are of its own commit. It is
-- the clock of julianday('now').

-- answer:
select :now as now;
