-- fail: end an attempt that failed. If the job's attempts are used up, or if @for_good
-- is 1, the job is dead. Otherwise it is tried again later.
-- @id, @claim_no: the values that `claim` returned.
-- @error: the error text, which is recorded with the job. It is cut after 4,000
-- characters.
-- @delay_ms: how long the job waits. Null: the queue's backoff.
-- Rows: one, with the job's state: scheduled, ready or dead.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].fail
	@id bigint, @claim_no bigint, @error nvarchar(max) = N'failed',
	@delay_ms bigint = null, @for_good bit = 0
as
set nocount on;
set xact_abort on;
declare @verdict nvarchar(10) = case when @for_good = 1 then N'dead' else N'fail' end,
        @cut nvarchar(4000) = left(@error, 4000);
exec [readpast].settle_one @id, @claim_no, @verdict, @delay_ms, @cut;
