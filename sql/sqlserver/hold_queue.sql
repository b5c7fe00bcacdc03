-- hold_queue: find a queue, or create it, and keep it from being dropped until the
-- transaction ends.
-- @queue: the name of the queue.
-- @queue_id, @max_payload: results.
-- @priority, @max_attempts: the values of the new job. Null is replaced by the queue's
-- setting.
-- Errors: 52003 wrong name, 52006 the queue was dropped after this transaction began,
-- 52008 doomed transaction.
-- Called in a transaction.
-- Locks: a shared lock on the queue's row in queue_use. The call waits for an open
-- transaction that creates or drops the queue.

alter procedure [readpast].hold_queue
	@queue nvarchar(4000), @queue_id int output, @priority int output,
	@max_attempts int output, @max_payload bigint output
as
set nocount on;
set xact_abort on;
declare @held int, @own_priority int, @own_attempts int, @tries int = 0;
while @held is null
begin
	set @queue_id = null;
	select @queue_id = q.id, @own_priority = q.priority,
	       @own_attempts = q.max_attempts, @max_payload = q.max_payload
	  from [readpast].queue as q
	 where q.name = @queue;
	if @queue_id is null
		exec [readpast].queue_create @queue;
	else
	begin
		select @held = u.queue_id
		  from [readpast].queue_use as u with (rowlock, repeatableread)
		 where u.queue_id = @queue_id;
		-- If @held is null, another session has dropped the queue after the
		-- first select, and both selects are repeated. The limit of three tries
		-- is for the isolation level SNAPSHOT, at which the first select would
		-- find the dropped queue forever.
		set @tries = @tries + 1;
		if @held is null and @tries = 3
			throw 52006, N'the queue was dropped after this transaction began: begin a new transaction', 1;
	end;
end;
set @priority = isnull(@priority, @own_priority);
set @max_attempts = isnull(@max_attempts, @own_attempts);
if @priority <> @own_priority
	exec [readpast].open_lane @queue_id, @priority;
