-- why: tell why a live job waits, or which worker runs it.
-- @id: the job.
-- @most: the count of the jobs ahead of this job stops at this number.
-- Rows: one, or none if there is no such live job. state: the state of the job;
-- due_in_ms: the time until a scheduled job is due; paused_at, pause_reason: the pause
-- of its queue; ahead: how many ready jobs will be claimed before this job; suspect: 1
-- if the job is a suspect, which runs alone; workers: how many workers that claim from
-- its queue were seen in the last 30 s; worker: the worker that claimed the job last;
-- silent_ms: how long ago this worker was last seen; lease_until, renewed: the end of
-- the job's lease, and how many times the lease was renewed.
-- Errors: none.
-- Locks: none.

alter procedure [readpast].why @id bigint, @most int = 1000
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
select case when j.lease_until is not null then N'running'
            when j.lane_id > 0 or j.run_at <= @now then N'ready' else N'scheduled' end as state,
       case when j.lane_id < 0 and j.run_at > @now and j.lease_until is null
            then datediff_big(millisecond, @now, j.run_at) end as due_in_ms,
       q.paused_at, q.pause_reason,
       (select count(*)
          from (select top (@most) k.id
                  from [readpast].job as k with (readuncommitted)
                 where k.lane_id between cast(j.queue_id as bigint) * 1024
                                     and case when j.lane_id > 0 then j.lane_id
                                              else cast(j.queue_id as bigint) * 1024 + 1023 end
                   and (k.lane_id < j.lane_id or j.lane_id < 0 or k.seq < j.seq
                        or k.seq = j.seq and k.id < j.id)
                   and k.lease_until is null) as a) as ahead,
       case when j.class = 1 then 1 else 0 end as suspect,
       (select count(*)
          from [readpast].worker_queue as k
         inner join [readpast].worker as w on w.id = k.worker_id
         where k.queue = q.name and w.seen_at > dateadd(second, -30, @now)) as workers,
       h.name as worker, datediff_big(millisecond, h.seen_at, @now) as silent_ms,
       j.lease_until, j.renewed
  from [readpast].job as j with (readuncommitted)
 inner join [readpast].queue as q on q.id = j.queue_id
  left join [readpast].worker as h on h.id = j.worker_id
 where j.id = @id;
