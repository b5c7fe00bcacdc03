-- ends: return the last id that was given to a job, as last_id and as last_seq.
-- On PostgreSQL last_seq is the last number that any ready line has given out. On SQLite
-- there is no such number, because each line counts its own numbers. The last id takes
-- its place. It can be too small, which does no harm to a copy.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
