-- check_job: raise an error if an argument of an enqueue is wrong.
-- @queue .. @replace: the parameters of `enqueue`.
-- Errors: 52003, and 52008 if the transaction is doomed.
-- Locks: none.

alter procedure [readpast].check_job
	@queue nvarchar(4000), @has_text bit, @has_payload bit, @priority int,
	@delay_ms bigint, @run_at datetime2(3), @max_attempts int, @kind nvarchar(4000),
	@headers nvarchar(max), @unique_key nvarchar(4000), @replace bit
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
set @message = case
	when @queue is null or [readpast].is_bad_name(@queue, 128) = 1 then
		N'the queue''s name must have 1 to 128 characters, no control characters and no space at the end'
	when @has_text = @has_payload then
		N'give either text or payload, and the one that you give must not be null'
	when [readpast].is_bad_name(@kind, 128) = 1 then
		N'the kind must have 1 to 128 characters, no control characters and no space at the end'
	when [readpast].is_bad_name(@unique_key, 255) = 1 then
		N'the unique key must have 1 to 255 characters, no control characters and no space at the end'
	when @priority < 0 or @priority > 255 then
		N'the priority is not within 0..255'
	when @max_attempts < 1 or @max_attempts > 1000000000 then
		N'max_attempts is not within 1..1000000000'
	when @delay_ms < 0 or @delay_ms > 315360000000 then
		N'the delay is not within 0..3650 days'
	when @run_at < '1970-01-01' then
		N'run_at is before 1970'
	when @delay_ms is not null and @run_at is not null then
		N'give either delay_ms or run_at, not both'
	when @replace is null then
		N'replace is null'
	when @replace = 1 and @unique_key is null then
		N'replace needs a unique key'
	when @headers is not null and (isjson(@headers) = 0 or left(ltrim(@headers), 1) <> N'{') then
		N'the headers are not a JSON object'
end;
if @message is not null
	throw 52003, @message, 1;
