-- now: the database's clock, milliseconds since 1970 UTC.
-- The other verbs have it as :now, read once per run, after the write lock
-- was taken: however long a writer waited, its times are of its own commit.

-- answer:
select cast(round((julianday('now') - 2440587.5) * 86400000) as integer)
       as now;
