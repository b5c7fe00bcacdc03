-- now: return the database's clock in milliseconds since 1970 UTC. On SQLite this is the
-- clock of the host, as julianday('now') returns it.
-- All statements in this folder get this time as :now. The clock is read once per call,
-- after the write lock was taken. So a writer that had to wait for the lock stores the
-- time after its wait.

-- answer:
select :now as now;
