-- pause: pause a queue. No job of a paused queue is claimed, but jobs can be enqueued.
-- If the queue is paused already, its paused_at does not change. The reason changes if
-- @reason is not null.
-- @queue: the name of the queue.
-- @reason: a text for people, or null.
-- Errors: 52003 wrong argument, 52005 no such queue, 52008 doomed transaction.
-- Locks: the queue's row.

alter procedure [readpast].pause
	@queue nvarchar(4000), @reason nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
declare @queue_id int;
exec [readpast].need_queue @queue, @queue_id output;
if [readpast].is_bad_name(@reason, 255) = 1
	throw 52003, N'the reason must have 1 to 255 characters, no control characters and no space at the end', 1;
update q
   set paused_at = isnull(q.paused_at, sysutcdatetime()),
       pause_reason = isnull(@reason, q.pause_reason)
  from [readpast].queue as q with (rowlock)
 where q.id = @queue_id;
