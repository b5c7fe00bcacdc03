-- put_away: move jobs to the archive.
-- #leaving: the table of the caller: id, state (4 done, 5 dead, 6 cancelled), error and
-- failures. If error or failures is null, the job's own value is kept.
-- Called in a transaction that has locked the jobs.
-- Locks: only the jobs' rows.

alter procedure [readpast].put_away
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
insert into [readpast].archive
       (queue_id, state, finished_at, id, priority, claim_no, worker, attempt,
        max_attempts, run_at, created_at, unique_key, kind, headers, last_error,
        failures, payload)
select j.queue_id, l.state, @now, j.id, j.priority, j.claim_no, w.name, j.attempt,
       j.max_attempts, j.run_at, j.created_at, j.unique_key, j.kind, j.headers,
       isnull(l.error, j.last_error), isnull(l.failures, j.failures), j.payload
  from #leaving as l
 inner loop join [readpast].job as j with (rowlock, index (job_id)) on j.id = l.id
  left join [readpast].worker as w on w.id = j.worker_id;
delete j
  from #leaving as l
 inner loop join [readpast].job as j with (rowlock, index (job_id)) on j.id = l.id;
