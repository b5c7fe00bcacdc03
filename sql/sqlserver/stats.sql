-- stats: show the numbers of one queue or of all queues. Up to 10,000 jobs of each state
-- are counted. The procedure also counts rows that are not committed, so it never waits
-- for a lock.
-- @queue: the name of the queue. Null: all queues.
-- Rows: one for each queue, by name: how many jobs are in each state, the age of the
-- oldest ready job, and how many live workers claim from the queue. (A worker is live
-- if it was seen in the last 30 s.)
-- `more` is 1 if one of the states may have more jobs than its number says.
-- Errors: none. A queue that does not exist has no row.
-- Locks: none.

alter procedure [readpast].stats @queue nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
declare @now datetime2(3) = sysutcdatetime();
select q.name, case when q.paused_at is null then 0 else 1 end as paused, q.pause_reason,
       s.scheduled, l.ready, l.running + s.running as running, a.done, a.dead, a.cancelled,
       datediff_big(millisecond, l.oldest, @now) as oldest_ready_ms,
       (select count(*)
          from [readpast].worker_queue as k
         inner join [readpast].worker as w on w.id = k.worker_id
         where k.queue = q.name and w.seen_at > dateadd(second, -30, @now)) as workers,
       case when s.n >= 10000 or l.n >= 10000 or a.n >= 10000 then 1 else 0 end as more
  from [readpast].queue as q
 cross apply (select count(*) as n, count(*) - count(i.lease_until) as scheduled,
                     count(i.lease_until) as running
                from (select top (10000) j.lease_until
                        from [readpast].job as j with (readuncommitted)
                       where j.lane_id = 0 - q.id
                       order by j.seq) as i) as s
 cross apply (select count(*) as n, count(*) - count(i.lease_until) as ready,
                     count(i.lease_until) as running,
                     min(case when i.lease_until is null then i.run_at end) as oldest
                from (select top (10000) j.lease_until, j.run_at
                        from [readpast].job as j with (readuncommitted)
                       where j.lane_id between cast(q.id as bigint) * 1024
                                           and cast(q.id as bigint) * 1024 + 1023
                       order by j.lane_id, j.seq) as i) as l
 cross apply (select max(c.n) as n,
                     max(case when c.state = 4 then c.n end) as done,
                     max(case when c.state = 5 then c.n end) as dead,
                     max(case when c.state = 6 then c.n end) as cancelled
                from (select t.state, (select count(*)
                                         from (select top (10000) k.id
                                                 from [readpast].archive as k with (readuncommitted)
                                                where k.queue_id = q.id and k.state = t.state) as r) as n
                        from (select 4 as state union all select 5 union all select 6) as t) as c) as a
 where @queue is null or q.name = @queue
 order by q.name;
