-- last_id: return the last id that was given to a job.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as id;
