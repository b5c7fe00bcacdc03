-- schedule_pause: pause a schedule if :paused is 1. Otherwise resume it, with :next_at as
-- its next time. If a copy has paused the schedule and a user pauses it as well, this
-- verb notes the user's pause in `standby`, so that the schedule stays paused when the
-- copy ends. A resume clears `standby`. But if a move has written the schedule to this
-- database, `standby` stays, because the next run of the move reads it.

-- answer:
update readpast_schedule
   set paused_at = iif(:paused, coalesce(paused_at, :now), null),
       next_at = iif(:paused, next_at, :next_at),
       retry_at = iif(:paused, retry_at, null),
       standby = case when not :paused
                      then iif(standby glob 'moved *', standby, null)
                      when standby glob '* and paused' then standby
                      else standby || ' and paused' end
 where name = :name
returning id;
