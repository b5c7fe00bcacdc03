-- schedule_pause: pause a schedule if :paused is 1. Otherwise resume it, with :next_at as
-- its next time. A resume of a schedule that is not paused changes nothing, and returns
-- no row.
-- The column standby is not null if a copy or a move has paused the schedule. A user may
-- pause the same schedule, too. Then ' and paused' is appended to standby, so that this
-- schedule stays paused when a move starts the schedules in the target.
-- A resume sets standby to null. There is one exception: in the target of a move standby
-- does not change, because the next run of the move reads it.

-- answer:
update readpast_schedule
   set paused_at = iif(:paused, coalesce(paused_at, :now), null),
       next_at = iif(:paused, next_at, :next_at),
       retry_at = iif(:paused, retry_at, null),
       last_error = iif(:paused or retry_at is null, last_error, null),
       standby = case when not :paused
                      then iif(standby glob 'moved *', standby, null)
                      when standby glob '* and paused' then standby
                      else standby || ' and paused' end
 where name = :name and (:paused or paused_at is not null)
returning id;
