-- queue_set: change settings of a queue. The queue is created if it does not exist.
-- @queue: the name of the queue.
-- @max_attempts .. @max_payload: the new settings. Null leaves a setting as it is.
-- Errors: 52003 wrong argument, 52008 doomed transaction.
-- Locks: the queue's row.

alter procedure [readpast].queue_set
	@queue nvarchar(4000), @max_attempts int = null, @lease_ms bigint = null,
	@backoff_ms bigint = null, @backoff_max_ms bigint = null, @priority int = null,
	@keep_done_ms bigint = null, @keep_dead_ms bigint = null,
	@max_payload bigint = null
as
set nocount on;
set xact_abort on;
declare @queue_id int, @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
set @message = case
	when @max_attempts < 1 or @max_attempts > 1000000000 then
		N'max_attempts is not within 1..1000000000'
	when @priority < 0 or @priority > 255 then N'the priority is not within 0..255'
	when @lease_ms < 1 or @lease_ms > 315360000000 then
		N'the lease is not within 1 ms..3650 days'
	when @backoff_ms < 0 or @backoff_ms > 315360000000
	     or @backoff_max_ms < 0 or @backoff_max_ms > 315360000000
	     or @keep_done_ms < 0 or @keep_done_ms > 315360000000
	     or @keep_dead_ms < 0 or @keep_dead_ms > 315360000000 then
		N'backoff_ms, backoff_max_ms, keep_done_ms and keep_dead_ms must be within 0..3650 days'
	when @max_payload < 0 or @max_payload > 1000000000 then
		N'max_payload is not within 0..1000000000 bytes' end;
if @message is not null
	throw 52003, @message, 1;
begin transaction;
exec [readpast].queue_create @queue;
exec [readpast].need_queue @queue, @queue_id output;
if @priority is not null
	exec [readpast].open_lane @queue_id, @priority;
update q
   set max_attempts = isnull(@max_attempts, q.max_attempts),
       lease_ms = isnull(@lease_ms, q.lease_ms),
       backoff_ms = isnull(@backoff_ms, q.backoff_ms),
       backoff_max_ms = isnull(@backoff_max_ms, q.backoff_max_ms),
       priority = isnull(@priority, q.priority),
       keep_done_ms = isnull(@keep_done_ms, q.keep_done_ms),
       keep_dead_ms = isnull(@keep_dead_ms, q.keep_dead_ms),
       max_payload = isnull(@max_payload, q.max_payload)
  from [readpast].queue as q with (rowlock)
 where q.id = @queue_id;
commit transaction;
