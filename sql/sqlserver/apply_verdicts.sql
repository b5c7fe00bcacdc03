-- apply_verdicts: change the jobs as plan_verdicts has planned. Each statement compares
-- the claim number again, so a job that has changed since plan_verdicts read it is not
-- changed again.
-- The updates with `output into` are written for Babelfish. They name the table `job`
-- itself, because Babelfish 4 cannot run such an update of an alias a second time. FROM
-- does not contain `job`, because Babelfish would then check the condition on old
-- versions of the rows.
-- Called by `settle`, in a transaction.
-- Locks: the jobs' rows.

alter procedure [readpast].apply_verdicts
as
set nocount on;
set xact_abort on;
create table #leaving (id bigint not null, state int null, error nvarchar(4000) null,
	failures nvarchar(max) null);
create table #settled (id bigint not null);
delete j
output deleted.id into #settled
  from #verdict as v
 inner loop join [readpast].job as j with (rowlock, index (job_id)) on j.id = v.id
 where v.state = 4 and v.keeps = 0 and j.claim_no = v.claim_no
   and j.worker_id is not null;
if exists (select 1 from #verdict as v
            where v.state = 5 or v.state = 4 and v.keeps = 1)
begin
	-- This update locks the rows that still have the claim number, because
	-- put_away needs them locked.
	update [readpast].job with (rowlock)
	   set renewed = 0
	output inserted.id into #leaving (id)
	  from #verdict as v
	 where (v.state = 5 or v.state = 4 and v.keeps = 1) and job.id = v.id
	   and job.claim_no = v.claim_no and job.worker_id is not null;
	update l
	   set state = v.state, error = v.error, failures = v.failures
	  from #leaving as l, #verdict as v
	 where v.id = l.id;
	exec [readpast].put_away;
	insert into #settled (id) select l.id from #leaving as l;
end;
if exists (select 1 from #verdict as v where v.state <= 3)
	update [readpast].job with (rowlock)
	   set lane_id = v.lane_id, seq = v.seq, class = v.class, run_at = v.run_at,
	       lease_until = case when v.state = 3 then v.run_at end,
	       claim_no = job.claim_no + case when v.state = 3 then 0 else 1 end,
	       worker_id = case when v.state = 3 then job.worker_id end,
	       attempt = job.attempt - case when v.verdict = N'release' and job.attempt > 0
	                                    then 1 else 0 end,
	       renewed = case when v.state = 3 then job.renewed + 1 else 0 end,
	       lost = case when v.verdict = N'fail' then 0 else job.lost end,
	       last_error = isnull(v.error, job.last_error),
	       failures = isnull(v.failures, job.failures)
	output inserted.id into #settled
	  from #verdict as v
	 where v.state <= 3 and job.id = v.id and job.claim_no = v.claim_no
	   and job.worker_id is not null;
update v set result = N'ok'
  from #verdict as v, #settled as s
 where s.id = v.id;
