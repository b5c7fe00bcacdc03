-- key_import: write unique keys that stay taken although their jobs are done. Keys of
-- queues that do not exist are skipped. If a key is already taken here until a later
-- time, it is not changed.

insert into readpast_taken_key (queue_id, unique_key, job_id, until)
select q.id, r.unique_key, r.job_id, r.until
  from readpast_key_import_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue
    on conflict (queue_id, unique_key) do update
   set job_id = excluded.job_id, until = excluded.until
 where excluded.until > until;
