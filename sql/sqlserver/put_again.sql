-- put_again: find the live job that has a unique key, and replace its content if
-- @replace is 1. The claim number of a replaced job becomes larger, so a worker whose
-- lease ran out cannot settle the new content.
-- If the job is ready or scheduled, it stays locked until the transaction ends. So no
-- worker runs the job before the caller has committed.
-- @lane, @seq, @due: the job's new lane, its new place in the lane, and its new run_at.
-- @replace: 1: replace the content.
-- @id, @outcome: results, see `enqueue`. @outcome is null if no live job has the key,
-- or if the job was claimed or has ended during this call.
-- Called in a transaction.
-- Locks: the job's row, unless it is running.

alter procedure [readpast].put_again
	@queue_id int, @unique_key nvarchar(4000), @lane bigint, @seq bigint,
	@due datetime2(3), @priority int, @max_attempts int, @kind nvarchar(4000),
	@headers nvarchar(max), @payload varbinary(max), @replace bit,
	@id bigint output, @outcome nvarchar(10) output
as
set nocount on;
set xact_abort on;
declare @lease_until datetime2(3), @message nvarchar(2048);
set @id = null;
select @id = j.id, @lease_until = j.lease_until
  from [readpast].job as j
 where j.queue_id = @queue_id and j.unique_key = @unique_key;
if @id is null
	return;
if @lease_until is null and @replace = 0
	select @outcome = N'existed'
	  from [readpast].job as j with (rowlock, updlock, readcommittedlock, index (job_id))
	 where j.id = @id;
if @lease_until is null and @replace = 1
begin
	update j
	   set lane_id = @lane,
	       -- A job that stays in its lane keeps its place.
	       seq = case when j.lane_id = @lane and @lane > 0 then j.seq else @seq end,
	       run_at = @due, priority = @priority, class = 2, claim_no = j.claim_no + 1,
	       worker_id = null, attempt = 0, lost = 0, max_attempts = @max_attempts,
	       last_error = null, failures = null, kind = @kind, headers = @headers,
	       payload = @payload
	  from [readpast].job as j with (rowlock, index (job_id))
	 where j.id = @id and j.lease_until is null;
	if @@rowcount = 1
		set @outcome = N'replaced';
end;
if @lease_until is not null and @replace = 0
	set @outcome = N'existed';
if @lease_until is not null and @replace = 1
begin
	set @message = concat(N'job ', @id, N' cannot be replaced: it is running');
	throw 52006, @message, 1;
end;
