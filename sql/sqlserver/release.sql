-- release: give a claimed job back. The attempt is not counted.
-- @id, @claim_no: the values that `claim` returned.
-- @delay_ms: how long the job waits before it is ready.
-- Rows: one, with the job's state: ready or scheduled.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].release
	@id bigint, @claim_no bigint, @delay_ms bigint = 0
as
set nocount on;
set xact_abort on;
exec [readpast].settle_one @id, @claim_no, N'release', @delay_ms, null;
