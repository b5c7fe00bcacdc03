-- resume: end the pause of a queue.
-- @queue: the name of the queue.
-- Errors: 52003 the name is null, 52005 no such queue, 52008 doomed transaction.
-- Locks: the queue's row.

alter procedure [readpast].resume @queue nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @queue_id int;
exec [readpast].need_queue @queue, @queue_id output;
update q
   set paused_at = null, pause_reason = null
  from [readpast].queue as q with (rowlock)
 where q.id = @queue_id;
