-- extend: give a job a new lease, which starts now.
-- @id, @claim_no: the values that `claim` returned.
-- @lease_ms: the length of the new lease. Null: the queue's setting, even if the claim
-- had another lease.
-- Rows: one, with the job's state: running.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].extend
	@id bigint, @claim_no bigint, @lease_ms bigint = null
as
set nocount on;
set xact_abort on;
exec [readpast].settle_one @id, @claim_no, N'extend', @lease_ms, null;
