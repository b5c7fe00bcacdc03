-- claim: lease up to n jobs. The caller holds each job until its lease ends. To report
-- on a job, pass its id and claim_no to one of the procedures `complete`, `fail`,
-- `release`, `extend` and `settle`.
-- @queue: the name of the queue.
-- @n: claim at most this many jobs.
-- @lease_ms: the length of the leases. Null: the queue's setting.
-- @worker: a name under which the caller is registered as a worker, or null.
-- @holding: how many jobs the caller holds already.
-- Rows: the jobs, in the order of the queue. There are fewer than n rows if fewer jobs
-- are ready, and none if the queue is paused. A suspect (a job that may have killed its
-- worker) is the only row, and is given only to a caller that holds no other job.
-- Errors: 52003 wrong argument, 52005 no such queue, 52007 wrong isolation level, 52008
-- doomed transaction. If @worker is given, a queue that does not exist is created when
-- this worker first claims from it.
-- Locks: the rows of the jobs. Rows that other transactions have locked are skipped. The
-- claim uses only the clustered index, so it never waits for a call that finds and
-- locks a job through the index job_id. No job is claimed twice even without these
-- locks, because the update repeats the condition that the job is not running.

alter procedure [readpast].claim
	@queue nvarchar(4000), @n int = 1, @lease_ms bigint = null,
	@worker nvarchar(4000) = null, @holding int = 0
as
set nocount on;
set xact_abort on;
declare @queue_id int, @worker_id bigint, @lane bigint = 0, @start bigint, @most int,
        @taken int = 0, @took int, @us bigint, @now datetime2(7), @until datetime2(3);
declare @got table (lane_id bigint, seq bigint, id bigint, claim_no bigint,
	payload varbinary(max), kind nvarchar(128), headers nvarchar(max), priority int,
	attempt int, max_attempts int, lease_until datetime2(3), run_at datetime2(3),
	created_at datetime2(3), unique_key nvarchar(255), last_error nvarchar(4000),
	failures nvarchar(max));
exec [readpast].need_read_committed;
begin transaction;
exec [readpast].claim_start @queue, @n, @lease_ms output, @worker, @holding,
	@queue_id output, @worker_id output;
while @lane is not null
begin
	exec [readpast].next_lane @queue_id, @n, @taken, @holding, @lane output,
		@start output, @most output;
	if @lane is null
		break;
	set @now = sysutcdatetime();
	set @us = datediff_big(microsecond, '1970-01-01', @now);
	set @until = dateadd(millisecond, @lease_ms % 1000, dateadd(second, @lease_ms / 1000, @now));
	update [readpast].job with (rowlock, updlock, readcommittedlock)
	   set lease_until = @until, worker_id = @worker_id, attempt = job.attempt + 1,
	       claim_no = case when job.claim_no < @us then @us else job.claim_no + 1 end
	output inserted.lane_id, inserted.seq, inserted.id, inserted.claim_no,
	       inserted.payload, inserted.kind, inserted.headers, inserted.priority,
	       inserted.attempt, inserted.max_attempts, inserted.lease_until,
	       inserted.run_at, inserted.created_at, inserted.unique_key,
	       inserted.last_error, inserted.failures into @got
	  from (select top (@most) k.lane_id, k.seq, k.id
	          from [readpast].job as k with (rowlock, readpast, updlock, readcommittedlock)
	         where k.lane_id = @lane and k.seq >= @start and k.lease_until is null
	         order by k.lane_id, k.seq, k.id) as p
	 where job.lane_id = p.lane_id and job.seq = p.seq and job.id = p.id
	   and job.lease_until is null
	option (loop join, maxdop 1);
	set @took = @@rowcount;
	-- A suspect runs alone. So a claim that has taken a suspect takes no more jobs.
	set @taken = case when @lane % 4 = 1 and @took > 0 then @n else @taken + @took end;
end;
commit transaction;
select g.id, g.claim_no, g.payload, g.kind, g.headers, g.priority, g.attempt,
       g.max_attempts, g.lease_until, g.run_at, g.created_at, g.unique_key,
       g.last_error, g.failures
  from @got as g
 order by g.lane_id, g.seq, g.id;
