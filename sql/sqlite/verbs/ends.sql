-- ends: the last id that was given to a job, and the last number of a line. On SQLite
-- each lane counts separately, so the last id is returned in place of the number. It can
-- be too small if jobs came into the line again and again, and no correctness depends on
-- it.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
