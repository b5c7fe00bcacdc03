-- own: readpast's claim: a lease, a claim number, one call per job
--
-- This technique combines several others of this folder. As in the technique
-- `readpast`, locked rows are skipped. As in `marker`, the state of a job is in its
-- row, and each claim writes a mark, the claim number. As in `merge`, one call settles
-- a job and claims the next, but without a table lock. As in `applock`, the row lock is
-- not the only guard. Each verdict also names a claim number, and is accepted only
-- while the job has that number. As in `worker-loop`, workers continue until no job is
-- left. No transaction is open while a job runs. If a worker dies, its job is ready
-- again when the lease ends, and the attempt is counted. A verdict that comes too late
-- is refused (step 7).
--
-- The steps call the procedures of the schema readpast, which install.sql makes.
--
-- Open two sessions, A and B, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make a queue, with three jobs.
exec [readpast].queue_set @queue = N'readpast_lab', @backoff_ms = 0;
exec [readpast].enqueue @queue = N'readpast_lab', @text = N'first', @quiet = 1;
exec [readpast].enqueue @queue = N'readpast_lab', @text = N'second', @quiet = 1;
exec [readpast].enqueue @queue = N'readpast_lab', @text = N'third', @quiet = 1;
go

-- Step 2, session A: claim a job, with a lease of only one millisecond. The job's id
-- and claim number are kept for step 7.
-- Expected: first, 1
exec [readpast].claim @queue = N'readpast_lab', @lease_ms = 1, @worker = N'A';
select id, claim_no
  into #held
  from [readpast].jobs
 where queue = N'readpast_lab' and worker = N'A';
select payload, attempt
  from [readpast].jobs
 where queue = N'readpast_lab' and worker = N'A';
go

-- Step 3, session A: claim the second job, and keep the transaction open, as if both
-- sessions claimed at the same time.
begin transaction;
exec [readpast].claim @queue = N'readpast_lab', @worker = N'A';
go

-- Step 4, session B: claim a job. B does not wait, and gets the third job.
-- Needs READPAST. (Skip this step on Babelfish, which does not skip locked rows.)
-- Expected: third, 1
exec [readpast].claim @queue = N'readpast_lab', @worker = N'B';
select payload, attempt
  from [readpast].jobs with (readpast)
 where queue = N'readpast_lab' and worker = N'B';
go

-- Step 5, session A: commit.
commit;
go

-- Step 6, session B: the lease of the first job is over. The sweep makes it ready
-- again, and B claims it for its second attempt.
-- Expected: first, 2
exec [readpast].sweep;
exec [readpast].claim @queue = N'readpast_lab', @worker = N'B';
select payload, attempt
  from [readpast].jobs
 where queue = N'readpast_lab' and worker = N'B' and attempt = 2;
go

-- Step 7, session A: A has done the first job, too late. The verdict of A is refused.
-- Expected: error 52001
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #held;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
go

-- Step 8, session B: the verdict of B is accepted.
-- Expected: 0
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no
  from [readpast].jobs
 where queue = N'readpast_lab' and worker = N'B' and attempt = 2;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
select count(*) as first_job
  from [readpast].jobs
 where id = @id and state = N'running';
go

-- Step 9, session A: remove the queue. A queue with running jobs cannot be
-- dropped, so its running jobs are cancelled first.
declare @id bigint = 0;
while @id is not null
begin
	set @id = null;
	select top (1) @id = id
	  from [readpast].jobs
	 where queue = N'readpast_lab' and state = N'running';
	if @id is not null
		exec [readpast].cancel @id = @id;
end;
exec [readpast].queue_drop @queue = N'readpast_lab';
go
