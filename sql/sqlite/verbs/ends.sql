-- ends: return the last id that was given to a job, and the last number (seq) in a ready
-- line. On SQLite each lane counts its own numbers, so the last id is returned instead of
-- the number. The id can be smaller than the real last number, if jobs entered the line
-- repeatedly. No correctness depends on this number.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
