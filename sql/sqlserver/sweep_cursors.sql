-- sweep_cursors: delete duplicate rows of the table `lane`. Then move the cursor of
-- each lane (the place at which claims start) to the first ready job of the lane. The
-- search begins at the start of the lane, so it also finds jobs before the cursor that
-- were committed late. If a lane has no ready job, its cursor is set to the time one
-- second ago (the places of a lane are times, in microseconds). This is done only if the
-- cursor is more than a minute old.
-- Called by `sweep`, in a transaction.
-- Locks: the rows of `lane` that change. Locked rows are skipped.

alter procedure [readpast].sweep_cursors
as
set nocount on;
set xact_abort on;
declare @us bigint = datediff_big(microsecond, '1970-01-01', sysutcdatetime());
delete l
  from [readpast].lane as l with (rowlock, readpast, readcommittedlock)
 where exists (select 1 from [readpast].lane as o with (readpast, readcommittedlock)
                where o.queue_id = l.queue_id and o.lane_id = l.lane_id and o.id < l.id);
update l
   set cursor_at = isnull(n.first_ready, @us - 1000000)
  from (select i.id,
               (select top (1) k.seq
                  from [readpast].job as k with (rowlock, readpast, readcommittedlock)
                 where k.lane_id = i.lane_id and k.lease_until is null
                 order by k.seq, k.id) as first_ready
          from [readpast].lane as i with (readpast, readcommittedlock)) as n,
       [readpast].lane as l with (rowlock, readpast, updlock, readcommittedlock)
 where l.id = n.id
   and (l.cursor_at <> n.first_ready
        or n.first_ready is null and l.cursor_at < @us - 60000000);
