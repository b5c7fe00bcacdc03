-- schedule_fired: set the next time of a schedule to :next_at (null: the schedule never
-- fires again), after a sweep has dealt with the times that are due. :due is the
-- next_at that this sweep has read. If another client has changed next_at since then,
-- nothing changes and no row is returned.
-- :last_at is the latest of the due times for which this sweep has added a job. It is
-- null if the sweep has added none: all due times were missed and get no job, or an
-- earlier sweep had added the job for :due, and could not compute the next time.
-- If the next time could be computed, :retry_at is null. If not, :next_at is still
-- :due, and :retry_at is the time at which a sweep tries again.

-- answer:
update readpast_schedule
   set next_at = :next_at, retry_at = :retry_at,
       last_at = coalesce(:last_at, last_at),
       last_job_id = iif(:last_at is null, last_job_id, :job_id),
       last_error = iif(coalesce(:last_at, :retry_at, retry_at) is null,
                        last_error, :error)
 where id = :id and next_at = :due
returning id;
