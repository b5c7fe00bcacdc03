-- rate_start: count :jobs jobs as started at the time of the claim :claim_no (in
-- microseconds), and forget the starts that are longer ago than the queue's rate_ms.
-- If the rate is more than 1,000 jobs, the starts of a hundredth of rate_ms are added up
-- in one row. They count until the last of them could be rate_ms ago.

delete from readpast_start
 where queue_id = (select id from readpast_queue where name = :queue)
   and at_us <= :claim_no - 1000 * (select rate_ms from readpast_queue
                                     where name = :queue);

insert into readpast_start (queue_id, at_us, jobs)
select id,
       iif(rate_count <= 1000, :claim_no,
           (:claim_no / (10 * rate_ms) + 1) * (10 * rate_ms)),
       :jobs
  from readpast_queue
 where name = :queue and rate_count > 0
on conflict do update set jobs = jobs + excluded.jobs;
