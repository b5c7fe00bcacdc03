-- sweep_line: take running jobs out of the ready line if their claim is older than a
-- second or their lease is over. Then claims need not read these jobs, and sweep_leases
-- finds them in the order in which their leases end, without an index of its own.
-- The procedure reads two parts of each lane: the jobs before the cursor (the place at
-- which claims start), and the first 1,000 jobs from the cursor on. Claims take jobs in
-- the order of the lane, so nearly all running jobs are in these parts. If a large
-- transaction committed late, some running jobs may be farther from the cursor. A later
-- sweep finds these, after the ready jobs before them have been claimed.
-- @most: move at most this many jobs.
-- Called by `sweep`, in a transaction.
-- Locks: the jobs' rows. Locked rows are skipped.

alter procedure [readpast].sweep_line @most int
as
set nocount on;
set xact_abort on;
declare @now datetime2(7) = sysutcdatetime(), @old bigint;
set @old = datediff_big(microsecond, '1970-01-01', @now) - 1000000;
update j
   set lane_id = -j.queue_id,
       seq = datediff_big(microsecond, '1970-01-01', j.lease_until)
  from (select top (@most) r.id
          from (select k.id, k.claim_no, k.lease_until
                  from [readpast].lane as l
                 inner join [readpast].job as k with (rowlock, readpast, readcommittedlock)
                    on k.lane_id = l.lane_id and k.seq < l.cursor_at
                union
                select f.id, f.claim_no, f.lease_until
                  from [readpast].lane as l
                 cross apply (select top (1000) k.id, k.claim_no, k.lease_until
                                from [readpast].job as k with (rowlock, readpast, readcommittedlock)
                               where k.lane_id = l.lane_id and k.seq >= l.cursor_at
                               order by k.seq, k.id) as f) as r
         where r.lease_until is not null
           and (r.claim_no < @old or r.lease_until <= @now)) as p
 inner loop join [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
    on j.id = p.id
 where j.lane_id > 0 and j.lease_until is not null
option (maxdop 1);
