-- settle_and_claim: settle jobs, then claim other jobs, in one commit.
-- @verdicts: the parameter of `settle`, or null.
-- @queue .. @holding: the parameters of `claim`. @holding does not count the jobs that
-- this call settles.
-- Rows: first the rows of `settle`, one for each verdict, then the rows of `claim`.
-- Errors: the errors of `settle` and `claim`. After an error, nothing is settled.
-- Locks: the locks of `settle` and `claim`.

alter procedure [readpast].settle_and_claim
	@verdicts nvarchar(max), @queue nvarchar(4000), @n int = 1,
	@lease_ms bigint = null, @worker nvarchar(4000) = null, @holding int = 0
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @verdicts is null
	set @verdicts = N'[]';
begin transaction;
exec [readpast].settle @verdicts;
exec [readpast].claim @queue, @n, @lease_ms, @worker, @holding;
commit transaction;
