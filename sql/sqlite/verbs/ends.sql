-- ends: return the last id that was given to a job, as last_id and again as last_seq.
-- On PostgreSQL last_seq is the last number that was drawn for a place in the ready line.
-- SQLite has no such number, because each lane (the ready jobs of one queue, priority
-- and class) numbers its own jobs. So the last id is returned instead. The last number
-- of a lane may be larger. Therefore copy/slice.c also reserves the largest number of
-- the jobs that it inserts.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
