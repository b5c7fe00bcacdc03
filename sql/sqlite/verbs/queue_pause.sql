-- queue_pause: stop handing out jobs (:paused), or go on. A queue that is paused twice
-- keeps the time of the first pause, and its reason unless another is given.

-- answer:
select id, iif(:paused, coalesce(paused_at, :now), null) as paused_at,
       iif(:paused, coalesce(:reason, pause_reason), null) as pause_reason
  from readpast_queue
 where name = :queue;

update readpast_queue
   set paused_at = @paused_at, pause_reason = @pause_reason
 where id = @id;
