-- sweep_kept: delete kept jobs whose retention time is over, and workers that were not
-- seen for an hour. (In this hour people can look up which worker had a job.)
-- @most: delete at most this many jobs.
-- @dropped: a result: how many jobs were deleted.
-- Called by `sweep`, in a transaction.
-- Locks: the rows that it deletes. Locked rows are skipped.

alter procedure [readpast].sweep_kept @most int, @dropped int output
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
delete a
  from (select top (@most) k.id
          from (select q.id, 4 as state, q.keep_done_ms as keep_ms from [readpast].queue as q
                union all
                select q.id, 5, q.keep_dead_ms from [readpast].queue as q
                union all
                select q.id, 6, q.keep_dead_ms from [readpast].queue as q) as s
         inner join [readpast].archive as k with (rowlock, readpast, updlock, readcommittedlock)
            on k.queue_id = s.id and k.state = s.state
           and k.finished_at <= dateadd(millisecond, -(s.keep_ms % 1000), dateadd(second, -(s.keep_ms / 1000), @now))) as p
 inner loop join [readpast].archive as a with (rowlock, readpast, updlock, readcommittedlock)
    on a.id = p.id;
set @dropped = @@rowcount;
delete w
  from [readpast].worker as w with (rowlock, readpast, readcommittedlock)
 where w.seen_at < dateadd(hour, -1, @now);
delete k
  from [readpast].worker_queue as k with (rowlock, readpast, readcommittedlock)
 where not exists (select 1 from [readpast].worker as w where w.id = k.worker_id);
