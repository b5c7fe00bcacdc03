-- claim_start: check the arguments of a claim, register its worker, and find its queue.
-- @queue .. @holding: the parameters of `claim`.
-- @queue_id: the queue. Null: the queue is paused.
-- @worker_id: the worker. 0: the client has no name.
-- Errors: 52003, 52005, see `claim`.
-- Called in a transaction.
-- Locks: the rows that worker_named locks.

alter procedure [readpast].claim_start
	@queue nvarchar(4000), @n int, @lease_ms bigint output, @worker nvarchar(4000),
	@holding int, @queue_id int output, @worker_id bigint output
as
set nocount on;
set xact_abort on;
declare @paused_at datetime2(3), @message nvarchar(2048);
set @message = case
	when @queue is null then N'the queue is null'
	when @n is null or @n < 1 or @n > 100000 then N'n is not within 1..100000'
	when @holding is null or @holding < 0 then N'holding is null or less than 0'
	when @lease_ms < 1 or @lease_ms > 315360000000 then
		N'the lease is not within 1 ms..3650 days'
end;
if @message is not null
	throw 52003, @message, 1;
set @worker_id = 0;
if @worker is not null
	exec [readpast].worker_named @worker, @queue, @worker_id output;
set @queue_id = null;
select @queue_id = q.id, @paused_at = q.paused_at,
       @lease_ms = isnull(@lease_ms, q.lease_ms)
  from [readpast].queue as q
 where q.name = @queue;
if @queue_id is null
	exec [readpast].need_queue @queue, @queue_id output;
if @paused_at is not null
	set @queue_id = null;
