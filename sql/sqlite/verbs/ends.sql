-- ends: return the last id that was given to a job, and the last number (seq) in a
-- ready line. On SQLite each lane (the ready jobs of one queue, priority and class)
-- counts its own numbers. So the last id is returned instead of the number. It can be
-- smaller than the largest number, because a job gets a new number each time it enters
-- a line. Such a result does no harm.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
