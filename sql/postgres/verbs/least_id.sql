-- least_id: return the smallest job id in the schedules (last_job_id) and in the taken
-- unique keys (job_id) of some queues. :queues is a JSON array of their names. The
-- result is null if there is no such id. The job may already be deleted.

select least((select pg_catalog.min(k.job_id)
                from readpast.taken_key k
                join readpast.queue q
                  on q.id operator(pg_catalog.=) k.queue_id
               where k.until operator(pg_catalog.>)
                     pg_catalog.clock_timestamp()
                 and :queues::pg_catalog.text::pg_catalog.jsonb
                     operator(pg_catalog.?) q.name),
             (select pg_catalog.min(s.last_job_id)
                from readpast.schedule s
               where :queues::pg_catalog.text::pg_catalog.jsonb
                     operator(pg_catalog.?) s.queue)) as id;
