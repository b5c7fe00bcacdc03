-- schedule_fired: record that a schedule has fired for all of its times from :due to
-- :last_at. :next_at is the schedule's next time. If another client has already
-- recorded the fire, no row is returned.
-- :last_at is null if the time :due was missed and gets no job. If the next time could
-- not be computed, :retry_at is the time to try again. Otherwise :retry_at is null.

-- answer:
update readpast_schedule
   set next_at = :next_at, retry_at = :retry_at,
       last_at = coalesce(:last_at, last_at),
       last_job_id = iif(:last_at is null, last_job_id, :job_id),
       last_error = iif(coalesce(:last_at, :retry_at, retry_at) is null,
                        last_error, :error)
 where id = :id and next_at = :due
returning id;
