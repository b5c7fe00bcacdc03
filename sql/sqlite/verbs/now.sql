-- now: the database's clock, milliseconds since 1970 UTC.
-- Every verb has it as :now, read once per run, after the write lock was taken: so a
-- writer that had to wait does not write times from before its wait. It is the clock of
-- julianday('now').

-- answer:
select :now as now;
