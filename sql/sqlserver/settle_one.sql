-- settle_one: settle one job, or raise an error that says why the verdict was refused.
-- @id, @claim_no, @verdict, @delay_ms, @error: the members of a verdict, see `settle`.
-- @state: the job's new state.
-- Rows: one, with the state.
-- Errors: 52001 this claim no longer has the job, 52002 the job was cancelled, 52003
-- wrong argument, 52005 no such job, 52008 doomed transaction.
-- Locks: the rows that `settle` locks.

alter procedure [readpast].settle_one
	@id bigint, @claim_no bigint, @verdict nvarchar(10), @delay_ms bigint,
	@error nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @verdicts nvarchar(max), @result nvarchar(10), @state nvarchar(10),
        @message nvarchar(2048);
set @verdicts = (select @id as id, @claim_no as claim_no, @verdict as verdict,
                        @delay_ms as delay_ms, @error as error
                    for json path);
exec [readpast].settle @verdicts, 1, @result output, @state output;
set @message = concat(N'job ', @id, case @result
	when N'gone' then N' is no longer yours'
	when N'cancelled' then N' was cancelled'
	else N' never existed' end);
if @result = N'gone'
	throw 52001, @message, 1;
if @result = N'cancelled'
	throw 52002, @message, 1;
if @result = N'unknown'
	throw 52005, @message, 1;
select @state as state;
