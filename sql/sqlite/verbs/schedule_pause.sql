-- schedule_pause: pause a schedule, or resume it (:paused 0) with its next instant.

-- answer:
update readpast_schedule
   set paused_at = iif(:paused, coalesce(paused_at, :now), null),
       next_at = iif(:paused, next_at, :next_at),
       retry_at = iif(:paused, retry_at, null),
       standby = iif(:paused, standby, null)
 where name = :name
returning id;
