-- put: insert a job, or find or replace the live job that has its unique key.
-- @queue_id .. @replace: the job. @priority and @max_attempts must not be null. The
-- caller gets them from hold_queue, which replaces null by the queue's setting.
-- @id, @outcome: results, see `enqueue`.
-- Called in a transaction.
-- Locks: the rows that `enqueue` locks, except the row of queue_use.

alter procedure [readpast].put
	@queue_id int, @payload varbinary(max), @priority int, @delay_ms bigint,
	@run_at datetime2(3), @max_attempts int, @kind nvarchar(4000),
	@headers nvarchar(max), @unique_key nvarchar(4000), @replace bit,
	@id bigint output, @outcome nvarchar(10) output
as
set nocount on;
-- This is the only procedure that switches XACT_ABORT off. With XACT_ABORT on, the
-- error about a duplicate key (see below) would doom the caller's transaction.
set xact_abort off;
declare @moment datetime2(7) = sysutcdatetime(), @now datetime2(3), @due datetime2(3),
        @lane bigint, @seq bigint;
set @now = @moment;
set @due = isnull(@run_at, dateadd(millisecond, @delay_ms % 1000, dateadd(second, @delay_ms / 1000, @now)));
if @due > @now
begin
	set @lane = -@queue_id;
	set @seq = datediff_big(microsecond, '1970-01-01', @due);
end
else
begin
	set @lane = cast(@queue_id as bigint) * 1024 + @priority * 4 + 2;
	set @seq = datediff_big(microsecond, '1970-01-01', @moment);
end;
if @due is null or @due < @now
	set @due = @now;
set @id = null;
set @outcome = null;
while @outcome is null
begin
begin try
	if @unique_key is not null
		exec [readpast].put_again @queue_id, @unique_key, @lane, @seq, @due, @priority,
			@max_attempts, @kind, @headers, @payload, @replace, @id output,
			@outcome output;
	if @outcome is null
	begin
		set @id = next value for [readpast].job_id;
		insert into [readpast].job
		       (lane_id, seq, id, queue_id, priority, max_attempts, run_at, created_at,
		        unique_key, kind, headers, payload)
		values (@lane, @seq, @id, @queue_id, @priority, @max_attempts, @due, @now,
		        @unique_key, @kind, @headers, @payload);
		set @outcome = N'added';
	end;
end try
begin catch
	set xact_abort on;
	-- Error 2601 or 2627: another session has added the key after put_again looked
	-- for it. So look again.
	if error_number() not in (2601, 2627) or @unique_key is null or xact_state() <> 1
		throw;
	set xact_abort off;
end catch;
end;
