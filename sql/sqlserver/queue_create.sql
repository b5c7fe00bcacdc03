-- queue_create: create a queue with the default settings, unless it exists.
-- @queue: the name of the queue.
-- Errors: 52003 wrong name, 52008 doomed transaction.
-- Locks: no existing row. The call waits for an open transaction that creates or drops
-- the same queue.

alter procedure [readpast].queue_create @queue nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @queue_id int;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @queue is null or [readpast].is_bad_name(@queue, 128) = 1
	throw 52003, N'the queue''s name must have 1 to 128 characters, no control characters and no space at the end', 1;
begin transaction;
insert into [readpast].queue (name)
select @queue
 where not exists (select 1 from [readpast].queue as q with (updlock, holdlock)
                    where q.name = @queue);
if @@rowcount = 1
begin
	set @queue_id = (select q.id from [readpast].queue as q where q.name = @queue);
	insert into [readpast].queue_use (queue_id) values (@queue_id);
	exec [readpast].open_lane @queue_id, 100;
end;
commit transaction;
