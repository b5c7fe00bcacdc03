-- sweep_leases: end the attempts of jobs whose leases ran out. A job that has used up
-- its attempts is dead. Any other job is ready again, before the other jobs of its
-- priority. If the job's lease ran out twice in a row, or if its next attempt is the
-- last one, the job becomes a suspect, which a worker runs alone. The claim number does
-- not change, so a late verdict is accepted until the job is claimed again.
-- @most: change at most this many jobs.
-- @recovered, @dead: how many jobs are ready again, and how many are dead.
-- Called by `sweep`, in a transaction.
-- Locks: the jobs' rows. Locked rows are skipped.

alter procedure [readpast].sweep_leases
	@most int, @recovered int output, @dead int output
as
set nocount on;
set xact_abort on;
declare @moment datetime2(7) = sysutcdatetime(), @now datetime2(3), @us bigint;
set @now = dateadd(millisecond, -1, @moment);
set @us = datediff_big(microsecond, '1970-01-01', @moment);
create table #over (number bigint not null, id bigint not null, claim_no bigint not null,
	dies int not null, class int not null, error nvarchar(4000) null,
	failures nvarchar(max) null);
create table #leaving (id bigint not null, state int null, error nvarchar(4000) null,
	failures nvarchar(max) null);
insert into #over (number, id, claim_no, dies, class, error, failures)
select row_number() over (order by k.seq, k.id), k.id, k.claim_no,
       case when k.attempt >= k.max_attempts then 1 else 0 end,
       case when k.lost > 0 or k.attempt + 1 >= k.max_attempts then 1 else 0 end,
       concat(N'lease ran out, attempt ', k.attempt, N' of ', k.max_attempts),
       [readpast].with_failure(k.failures, k.attempt, @now, w.name,
           concat(N'lease ran out, attempt ', k.attempt, N' of ', k.max_attempts))
  from (select top (@most) i.seq, i.id, i.claim_no, i.attempt, i.max_attempts, i.lost,
               i.failures, i.worker_id
          from [readpast].queue as q
         inner join [readpast].job as i with (rowlock, readpast, readcommittedlock)
            on i.lane_id = 0 - q.id and i.seq <= @us
         where i.lease_until <= @now
         order by i.seq, i.id) as k
  left join [readpast].worker as w on w.id = k.worker_id;
update j
   set lane_id = cast(j.queue_id as bigint) * 1024 + j.priority * 4 + o.class,
       seq = @us + o.number, class = o.class, run_at = @now, lease_until = null,
       renewed = 0, lost = j.lost + 1, last_error = o.error, failures = o.failures
  from #over as o, [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
 where o.dies = 0 and j.id = o.id and j.claim_no = o.claim_no and j.lease_until <= @now;
set @recovered = @@rowcount;
update [readpast].job with (rowlock, readpast, updlock, readcommittedlock)
   set renewed = 0
output inserted.id into #leaving (id)
  from #over as o
 where o.dies = 1 and job.id = o.id and job.claim_no = o.claim_no and job.lease_until <= @now;
set @dead = @@rowcount;
if @dead = 0
	return;
update l
   set state = 5, error = o.error, failures = o.failures
  from #leaving as l, #over as o
 where o.id = l.id;
exec [readpast].put_away;
