-- schedule_fired: set the next time of a schedule to :next_at, after a sweep has fired
-- the schedule for the times that were due. If :next_at is null, the schedule never
-- fires again.
-- :due is the next_at that this sweep has read. If another client has changed next_at
-- since then, nothing changes and no row is returned.
-- :last_at is the latest time for which this sweep has fired the schedule. If that time
-- got no job, :job_id is null and :error is the reason. :last_at is null if the sweep has
-- not fired the schedule at all: the schedule skips times that were missed, or an
-- earlier sweep had fired it for :due.
-- :retry_at is null if the sweep could compute the next time. Otherwise :next_at is
-- still :due, and a sweep tries again at the time :retry_at.

-- answer:
update readpast_schedule
   set next_at = :next_at, retry_at = :retry_at,
       last_at = coalesce(:last_at, last_at),
       last_job_id = iif(:last_at is null, last_job_id, :job_id),
       last_error = iif(coalesce(:last_at, :retry_at, retry_at) is null,
                        last_error, :error)
 where id = :id and next_at = :due
returning id;
