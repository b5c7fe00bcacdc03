-- worker_extends: store a heartbeat of the client that holds a job, because it has
-- extended the job's lease. :host and :pid are those of the server that has registered the
-- client. If the client was unregistered, it is registered again. At most one heartbeat
-- is stored in 5 s. If the client of this server holds the job, its id is returned.

update readpast_worker
   set seen_at = :now, stopped_at = null
 where id = (select worker_id from readpast_job where id = :id and claim_no = :claim_no)
   and host = :host and pid = :pid
   and (stopped_at is not null or seen_at < :now - 5000);

-- answer:
select w.id
  from readpast_job j
 cross join readpast_worker w
 where j.id = :id and j.claim_no = :claim_no and w.id = j.worker_id
   and w.host = :host and w.pid = :pid;
