-- complete: settle a running job as done, and delete it from the live table. The archive
-- gets the job, with :result, if the job or its queue has a time for which done jobs are
-- kept. Otherwise :result is dropped.
-- apart is 1 if the payload is in readpast_payload. This verb does not delete such a
-- payload, because deleting many large payloads could take long. The verb sweep_rest
-- deletes the payload later, unless the job is kept.
-- A job that has a group gives up its slot (its right to run), and the next job of the
-- group is admitted.

-- answer:
select j.queue_id, j.payload < '' as apart,
       r.number as number, j.id,
       iif(j.extra is null, q.keep_done_ms,
           coalesce(j.extra ->> 'keep_ms', q.keep_done_ms)) > 0 as kept,
       r.result as result,
       iif(j.extra is null, null, j.extra ->> 'unique_for_ms')
       as unique_for_ms,
       j.group_key, j.group_key is not null as leaves,
       j.run_at = 9223372036854775807 as blocked
  from readpast_complete_rows(:rows) r
 cross join readpast_job j
 cross join readpast_queue q
 where j.id = r.id and j.claim_no = r.claim_no and j.worker_id is not null
   and q.id = j.queue_id;

-- if @kept:
insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts,
                              worker, created_at, unique_key, kind, headers,
                              payload, last_error, failures, extra,
                              group_key, expire_at, result)
select id, queue_id, 4, :now, priority,
-- include run_at
       ,
       claim_no, attempt, max_attempts,
       (select name from readpast_worker w where w.id = worker_id),
       created_at, unique_key, kind, headers, payload,
       last_error, failures, extra, group_key, expire_at, @result
  from readpast_job j
 where id = @id;

-- if @apart:
insert or ignore into readpast_gone (id) values (@id);

-- if @unique_for_ms:
insert or replace into readpast_taken_key (queue_id, unique_key, job_id, until)
select queue_id, unique_key, id, :now + @unique_for_ms
  from readpast_job
 where id = @id;

-- if @blocked:
select priority, came from readpast_job where id = @id;

-- the rest if @leaves:
-- include leave_group

delete from readpast_job where id in (:taken);
