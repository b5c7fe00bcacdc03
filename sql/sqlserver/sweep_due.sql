-- sweep_due: make ready the scheduled jobs whose time has come, in the order of their
-- times.
-- @most: change at most this many jobs.
-- @due: how many jobs this call has made ready.
-- Called by `sweep`, in a transaction.
-- Locks: the jobs' rows. Locked rows are skipped.

alter procedure [readpast].sweep_due @most int, @due int output
as
set nocount on;
set xact_abort on;
declare @us bigint = datediff_big(microsecond, '1970-01-01', sysutcdatetime());
create table #due (number bigint not null, id bigint not null);
insert into #due (number, id)
select row_number() over (order by k.seq, k.id), k.id
  from (select top (@most) i.seq, i.id
          from [readpast].queue as q
         inner join [readpast].job as i with (rowlock, readpast, readcommittedlock)
            on i.lane_id = 0 - q.id and i.seq <= @us
         where i.lease_until is null
         order by i.seq, i.id) as k;
update j
   set lane_id = cast(j.queue_id as bigint) * 1024 + j.priority * 4 + j.class,
       seq = @us + d.number
  from #due as d, [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
 where j.id = d.id and j.lane_id < 0 and j.seq <= @us and j.lease_until is null;
set @due = @@rowcount;
