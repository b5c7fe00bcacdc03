-- selftest_two: check an installed readpast from two sessions. Run each step in the
-- session that it names, in the order of the numbers, or run `tools/sqlserver-steps`
-- with this file. "Expected" says what the step's last result is. "Waits" says that the
-- step must not return before another step. "May wait" says that the step may wait for
-- another step, but need not. "Needs READPAST" says: skip the step on Babelfish, which
-- does not skip locked rows. The steps use only the queue `selftest_two`, and drop it.

-- Step 1, session A: make a queue, with two jobs.
exec [readpast].queue_set @queue = N'selftest_two', @backoff_ms = 0, @keep_done_ms = 600000;
exec [readpast].enqueue @queue = N'selftest_two', @text = N'first', @quiet = 1;
exec [readpast].enqueue @queue = N'selftest_two', @text = N'second', @quiet = 1;
go

-- Step 2, session A: claim the first job, and keep the transaction open.
-- Expected: first, 1
begin transaction;
exec [readpast].claim @queue = N'selftest_two', @worker = N'A';
select payload, attempt
  from [readpast].jobs
 where queue = N'selftest_two' and worker = N'A';
go

-- Step 3, session B: claim a job. B gets the second job, and does not wait.
-- Needs READPAST. (Skip this step on Babelfish, which does not skip locked rows.)
-- Expected: second, 1
exec [readpast].claim @queue = N'selftest_two', @worker = N'B';
select payload, attempt
  from [readpast].jobs with (readpast)
 where queue = N'selftest_two' and worker = N'B';
go

-- Step 4, session B: claim all ready jobs. B must not get the job of A.
-- May wait: until step 5.
exec [readpast].claim @queue = N'selftest_two', @worker = N'B', @n = 10;
go

-- Step 5, session A: commit.
commit;
go

-- Step 6, session B: A still holds its job.
-- Expected: first, A, 1
select payload, worker, attempt
  from [readpast].jobs
 where queue = N'selftest_two' and payload = N'first';
go

-- Step 7, session A: begin, and complete the first job. The transaction stays open.
begin transaction;
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no
  from [readpast].jobs
 where queue = N'selftest_two' and payload = N'first';
exec [readpast].complete @id = @id, @claim_no = @claim_no;
go

-- Step 8, session B: B reports the same claim as failed. The verdict of B waits
-- for the verdict of A.
-- Waits: until step 9.
-- Expected: error 52001
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no
  from [readpast].jobs with (nolock)
 where queue = N'selftest_two' and payload = N'first';
exec [readpast].fail @id = @id, @claim_no = @claim_no;
go

-- Step 9, session A: commit. The verdict of A is accepted.
-- Expected: done
commit;
select state from [readpast].jobs where queue = N'selftest_two' and payload = N'first';
go

-- Step 10, session A: make the queue again, with one job. Claim the job with a lease of
-- one millisecond.
declare @second bigint;
select @second = id
  from [readpast].jobs
 where queue = N'selftest_two' and payload = N'second';
exec [readpast].cancel @id = @second;
exec [readpast].queue_drop @queue = N'selftest_two';
exec [readpast].queue_set @queue = N'selftest_two', @backoff_ms = 0, @keep_done_ms = 600000;
exec [readpast].enqueue @queue = N'selftest_two', @text = N'slow', @quiet = 1;
exec [readpast].claim @queue = N'selftest_two', @lease_ms = 1, @worker = N'A';
select id, claim_no
  into #held
  from [readpast].jobs
 where queue = N'selftest_two';
go

-- Step 11, session B: the lease is over. Sweep, and claim the job again.
-- Expected: B, 2
declare @end datetime2(3) = dateadd(millisecond, 30, sysutcdatetime());
while sysutcdatetime() < @end
	set @end = @end;
exec [readpast].sweep;
exec [readpast].claim @queue = N'selftest_two', @worker = N'B';
select worker, attempt from [readpast].jobs where queue = N'selftest_two';
go

-- Step 12, session A: the verdict of A comes too late.
-- Expected: error 52001
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #held;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
go

-- Step 13, session A: an extension by A comes too late, too.
-- Expected: error 52001
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #held;
exec [readpast].extend @id = @id, @claim_no = @claim_no, @lease_ms = 60000;
go

-- Step 14, session A: the late verdict is also refused if it is part of a batch. The
-- row that `settle` returns says `gone`, and B still holds the job.
-- Expected: running, B
declare @verdicts nvarchar(max);
select @verdicts = concat(N'[{"id":', id, N',"claim_no":', claim_no,
                          N',"verdict":"done"}]')
  from #held;
exec [readpast].settle @verdicts = @verdicts;
select state, worker from [readpast].jobs where queue = N'selftest_two';
go

-- Step 15, session B: the verdict of B is accepted.
-- Expected: done
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no
  from [readpast].jobs
 where queue = N'selftest_two';
exec [readpast].complete @id = @id, @claim_no = @claim_no;
select state from [readpast].jobs where queue = N'selftest_two';
go

-- Step 16, session A: begin, and add a job with a key.
begin transaction;
exec [readpast].enqueue @queue = N'selftest_two', @text = N'A', @unique_key = N'k',
	@quiet = 1;
go

-- Step 17, session B: add a job with the same key. B waits until the transaction of A
-- has ended.
-- Waits: until step 18.
-- Expected: B, 1
exec [readpast].enqueue @queue = N'selftest_two', @text = N'B', @unique_key = N'k';
select max(payload), count(*)
  from [readpast].jobs
 where queue = N'selftest_two' and unique_key = N'k';
go

-- Step 18, session A: roll back, so the job of B is added.
rollback;
go

-- Step 19, session A: begin, and replace the job.
begin transaction;
exec [readpast].enqueue @queue = N'selftest_two', @text = N'C', @unique_key = N'k',
	@replace = 1, @quiet = 1;
go

-- Step 20, session B: try to add a job with the same key. Such a job exists, whether or
-- not B sees the change of A. So B adds no job.
-- May wait: until step 21.
-- Expected: 1
exec [readpast].enqueue @queue = N'selftest_two', @text = N'D', @unique_key = N'k';
select count(*)
  from [readpast].jobs
 where queue = N'selftest_two' and unique_key = N'k';
go

-- Step 21, session A: commit.
commit;
go

-- Step 22, session A: begin, and sweep. The transaction stays open.
-- Expected: 1, 0, 0, 0, 0
begin transaction;
exec [readpast].sweep;
go

-- Step 23, session B: sweep while the transaction of A is open. Only one session sweeps
-- at a time, so this sweep changes nothing. It does not wait.
-- Expected: 0, 0, 0, 0, 0
exec [readpast].sweep;
go

-- Step 24, session A: commit.
commit;
go

-- Step 25, session B: sweep again. Now this sweep does its work.
-- Expected: 1, 0, 0, 0, 0
exec [readpast].sweep;
go

-- Step 26, session A: drop the queue.
exec [readpast].queue_drop @queue = N'selftest_two';
go
