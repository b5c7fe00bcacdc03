-- plan_verdicts: find out what each verdict of #verdict does to its job. The results
-- stay valid as long as the job has the same claim number, even if the settings of the
-- queue are changed. If the job does not have the claim number that the verdict names,
-- the column `state` of the verdict stays null.
-- Called by `settle`, in a transaction.
-- Locks: none. apply_verdicts compares the claim number again.

alter procedure [readpast].plan_verdicts
as
set nocount on;
set xact_abort on;
declare @moment datetime2(7) = sysutcdatetime(), @now datetime2(3), @us bigint;
set @now = @moment;
set @us = datediff_big(microsecond, '1970-01-01', @moment);
-- delay_ms of a failed job: if the verdict names none, it is the queue's backoff (see
-- backoff_ms), varied at random by up to a tenth.
update v
   set queue_id = q.id,
       keeps = case when q.keep_done_ms > 0 then 1 else 0 end,
       class = case when v.verdict = N'extend' then j.class
                    when v.verdict = N'fail' then 2
                    when j.class = 1 then 1
                    when v.delay_ms > 0 then 2 else 0 end,
       state = case when v.verdict = N'done' then 4
                    when v.verdict = N'extend' then 3
                    when v.verdict = N'dead' or v.verdict = N'fail'
                         and j.attempt >= j.max_attempts then 5
                    else 1 end,
       delay_ms = case when v.delay_ms is not null then v.delay_ms
                       when v.verdict = N'extend' then q.lease_ms
                       when v.verdict = N'fail' then
                            [readpast].backoff_ms(j.attempt, q.backoff_ms, q.backoff_max_ms)
                            * (900 + abs(cast(checksum(newid()) as bigint)) % 201) / 1000
                       else 0 end,
       lane_id = cast(q.id as bigint) * 1024 + j.priority * 4,
       error = case when v.verdict in (N'fail', N'dead') then isnull(v.error, N'failed') end,
       failures = case when v.verdict in (N'fail', N'dead') then
                       [readpast].with_failure(j.failures, j.attempt, @now,
                           (select w.name from [readpast].worker as w
                             where w.id = j.worker_id), isnull(v.error, N'failed')) end
  from #verdict as v, [readpast].job as j with (index (job_id)), [readpast].queue as q
 where j.id = v.id and j.claim_no = v.claim_no and j.worker_id is not null
   and q.id = j.queue_id;
update v
   set run_at = dateadd(millisecond, v.delay_ms % 1000, dateadd(second, v.delay_ms / 1000, @now))
  from #verdict as v
 where v.state in (1, 3);
update v
   set state = case when v.state = 1 and v.delay_ms = 0 then 2 else v.state end,
       lane_id = case when v.state = 1 and v.delay_ms = 0 then v.lane_id + v.class
                      else -v.queue_id end,
       seq = case when v.state = 1 and v.delay_ms = 0 then @us + v.number
                  else datediff_big(microsecond, '1970-01-01', v.run_at) end
  from #verdict as v
 where v.state in (1, 3);
