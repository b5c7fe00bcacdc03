-- enqueue: put a job into a queue. A queue that does not exist is created.
-- @text, @payload: the job's content. Give one of the two; a text is stored as UTF-8.
-- @priority, @max_attempts: null means the queue's setting.
-- @delay_ms, @run_at: when the job is ready. Null means now.
-- @headers: a JSON object.
-- @unique_key: if a live job of the queue has this key, no job is added.
-- @replace: 1: a live job with the key gets the new content. If that job is running,
-- error 52006 is raised.
-- @quiet: 1: return no row.
-- @id: the job's id.
-- Rows: one, with the job's id, and outcome: added, existed (another job has the key)
-- or replaced.
-- Errors: 52003 wrong argument, 52004 payload too large, 52006 the job to be replaced
-- is running, or the queue was dropped after this transaction began, 52008 doomed
-- transaction.
-- Locks: the row of a live job with the same key, and a shared lock on the queue's row
-- in queue_use. The call waits for an open transaction that creates the same queue,
-- drops it, inserts the same key, or has changed the live job with this key.

alter procedure [readpast].enqueue
	@queue nvarchar(4000), @text nvarchar(max) = null, @payload varbinary(max) = null,
	@priority int = null, @delay_ms bigint = null, @run_at datetime2(3) = null,
	@max_attempts int = null, @kind nvarchar(4000) = null,
	@headers nvarchar(max) = null, @unique_key nvarchar(4000) = null,
	@replace bit = 0, @quiet bit = 0, @id bigint = null output
as
set nocount on;
set xact_abort on;
declare @queue_id int, @outcome nvarchar(10), @max_payload bigint,
        @has_text bit = case when @text is null then 0 else 1 end,
        @has_payload bit = case when @payload is null then 0 else 1 end;
exec [readpast].check_job @queue, @has_text, @has_payload, @priority, @delay_ms, @run_at,
	@max_attempts, @kind, @headers, @unique_key, @replace;
if @has_text = 1
	set @payload = [readpast].utf8_of(@text);
begin transaction;
exec [readpast].hold_queue @queue, @queue_id output, @priority output,
	@max_attempts output, @max_payload output;
if datalength(@payload) > @max_payload
	throw 52004, N'the payload is larger than the queue''s max_payload', 1;
exec [readpast].put @queue_id, @payload, @priority, @delay_ms, @run_at, @max_attempts,
	@kind, @headers, @unique_key, @replace, @id output, @outcome output;
commit transaction;
if @quiet = 0
	select @id as id, @outcome as outcome;
