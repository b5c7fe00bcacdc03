-- worker_named: register a client as a worker under a name that the client chooses.
-- Each claim is a heartbeat. It is written to the worker's row at most once in 5 s.
-- @worker: the name.
-- @queue: the queue that the worker claims from. A queue that does not exist is created
-- when the worker first claims from it.
-- @worker_id: the worker's id.
-- Errors: 52003 wrong name.
-- Locks: the worker's row, if the call updates it, until the transaction ends. If
-- another transaction has locked that row, the call does not update it.

alter procedure [readpast].worker_named
	@worker nvarchar(4000), @queue nvarchar(4000), @worker_id bigint output
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime(), @seen_at datetime2(3);
if @worker is null or [readpast].is_bad_name(@worker, 255) = 1
	throw 52003, N'the worker''s name must have 1 to 255 characters, no control characters and no space at the end', 1;
set @worker_id = null;
select @worker_id = w.id, @seen_at = w.seen_at
  from [readpast].worker as w
 where w.name = @worker;
if @worker_id is null
begin
	insert into [readpast].worker (name, started_at, seen_at)
	select @worker, @now, @now
	 where not exists (select 1 from [readpast].worker as w with (updlock, holdlock)
	                    where w.name = @worker);
	select @worker_id = w.id from [readpast].worker as w where w.name = @worker;
end;
if @seen_at < dateadd(second, -5, @now)
	update w
	   set seen_at = @now
	  from [readpast].worker as w with (rowlock, readpast, readcommittedlock)
	 where w.id = @worker_id;
if not exists (select 1 from [readpast].worker_queue as k
                where k.worker_id = @worker_id and k.queue = @queue)
begin
	exec [readpast].queue_create @queue;
	insert into [readpast].worker_queue (worker_id, queue)
	select @worker_id, @queue
	 where not exists (select 1 from [readpast].worker_queue as k with (updlock, holdlock)
	                    where k.worker_id = @worker_id and k.queue = @queue);
end;
