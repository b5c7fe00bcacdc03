-- queue_pause: hand out nothing more (:paused), or go on. When it was paused
-- first stays.

-- answer:
select id, iif(:paused, coalesce(paused_at, :now), null) as paused_at
  from readpast_queue
 where name = :queue;

update readpast_queue set paused_at = @paused_at where id = @id;
