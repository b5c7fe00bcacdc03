-- ends: return the last id that was given to a job, and the largest number of a ready job
-- in its lane (the ready jobs of one queue, priority and class), or 0.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select max(seq) from readpast_job where seq is not null), 0)
       as last_seq;
