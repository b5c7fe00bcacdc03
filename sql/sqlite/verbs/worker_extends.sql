-- worker_extends: store a heartbeat of the client that holds a job, because it has
-- extended the job's lease. At most one heartbeat is stored in 5 s.

update readpast_worker
   set seen_at = :now
 where id = (select worker_id from readpast_job where id = :id and claim_no = :claim_no)
   and host = '' and stopped_at is null and seen_at < :now - 5000;
