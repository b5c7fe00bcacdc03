-- schedule_fired: the instant :due of a schedule has fired, with all up to :last_at, and
-- :next_at is the next one. :last_at null: it was missed, and got no job. :retry_at not
-- null: the next instant could not be computed, and this is when to try again. No answer:
-- another client has fired it.

-- answer:
update readpast_schedule
   set next_at = :next_at, retry_at = :retry_at,
       last_at = coalesce(:last_at, last_at),
       last_job_id = iif(:last_at is null, last_job_id, :job_id),
       last_error = iif(coalesce(:last_at, :retry_at, retry_at) is null,
                        last_error, :error)
 where id = :id and next_at = :due
returning id;
