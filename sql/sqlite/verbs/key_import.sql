-- key_import: note unique keys that stay taken after their jobs are done, in queues that
-- exist. A key that is taken here for longer stays as it is.

insert into readpast_taken_key (queue_id, unique_key, job_id, until)
select q.id, r.unique_key, r.job_id, r.until
  from readpast_key_import_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue
    on conflict (queue_id, unique_key) do update
   set job_id = excluded.job_id, until = excluded.until
 where excluded.until > until;
