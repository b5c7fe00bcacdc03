-- rate_start: record that :jobs jobs were started at the time :claim_no (a claim
-- number, in microseconds), and delete the starts that are rate_ms or longer ago.
-- If the rate is more than 1,000 jobs, all starts within one hundredth of rate_ms are
-- added up in one row. The time of this row is the end of the hundredth, so that no
-- start is deleted too early.

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
