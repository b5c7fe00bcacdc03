-- need_queue: return the id of a queue, or raise an error.
-- @queue: the name of the queue.
-- @queue_id: its id.
-- Errors: 52003 the name is null, 52005 no such queue, 52008 doomed transaction.
-- Locks: none.

alter procedure [readpast].need_queue @queue nvarchar(4000), @queue_id int output
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @queue is null
	throw 52003, N'the queue is null', 1;
set @queue_id = (select q.id from [readpast].queue as q where q.name = @queue);
if @queue_id is null
begin
	set @message = concat(N'there is no queue named ', left(@queue, 128),
		N': create it by queue_set or by its first job');
	throw 52005, @message, 1;
end;
