-- ends: return the last id that was given to a job, as last_id and again as last_seq.
-- On PostgreSQL last_seq is the last number that was drawn for a place in the ready line.
-- SQLite has no such number, because each ready line counts for itself. So the last id is
-- returned instead. It can be less than the last number of a line, but this does no harm
-- to a copy.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
