-- schedule_pause: pause a schedule if :paused is 1. Otherwise resume it, with :next_at as
-- its next time.

-- answer:
update readpast_schedule
   set paused_at = iif(:paused, coalesce(paused_at, :now), null),
       next_at = iif(:paused, next_at, :next_at),
       retry_at = iif(:paused, retry_at, null),
       standby = iif(:paused, standby, null)
 where name = :name
returning id;
