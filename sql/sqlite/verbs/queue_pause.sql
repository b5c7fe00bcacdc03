-- queue_pause: pause a queue if :paused is 1, otherwise resume it. No job of a paused
-- queue is claimed. If the queue is paused already, the start of its pause does not
-- change. The reason changes if :reason is not null. When the queue is resumed, ready
-- jobs that may not start now are blocked. A copy has such jobs, because it has no slots.

-- answer:
select id, iif(:paused, coalesce(paused_at, :now), null) as paused_at,
       iif(:paused, coalesce(:reason, pause_reason), null) as pause_reason,
       not :paused as resumes
  from readpast_queue
 where name = :queue;

update readpast_queue
   set paused_at = @paused_at, pause_reason = @pause_reason
 where id = @id;

-- the rest if @resumes:
-- include examine_line
