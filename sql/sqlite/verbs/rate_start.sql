-- rate_start: record that :jobs jobs were started now, and delete the starts that are
-- rate_ms or longer ago. The claim numbers of the jobs are not used, because they are times
-- in the future if the clock was set back.
-- If the rate is more than 1,000 jobs, all starts within one hundredth of rate_ms are
-- added up in one row. The time of this row is the end of the hundredth, so that no
-- start is deleted too early.

delete from readpast_start
 where queue_id = (select id from readpast_queue where name = :queue)
   and at_us <= :now_us - 1000 * (select rate_ms from readpast_queue
                                   where name = :queue);

insert into readpast_start (queue_id, at_us, jobs)
select id,
       iif(rate_count <= 1000, :now_us,
           (:now_us / (10 * rate_ms) + 1) * (10 * rate_ms)),
       :jobs
  from readpast_queue
 where name = :queue and rate_count > 0
on conflict do update set jobs = jobs + excluded.jobs;
