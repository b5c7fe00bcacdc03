-- enqueue_many: put many jobs into a queue, in one statement and one commit.
-- @queue: the queue. It is created if it does not exist.
-- @jobs: a JSON array of objects with the members text or payload (hexadecimal digits),
-- kind, headers, priority, delay_ms and max_attempts. Each object must have either text
-- or payload. The other members may be left out.
-- (Jobs with a unique key go through `enqueue`, one at a time.)
-- Rows: number and id of each job, in the order of the array.
-- Errors: 52003 wrong JSON or argument, 52004 payload too large, 52006 the queue was
-- dropped after this transaction began, 52008 doomed transaction.
-- Locks: a shared lock on the queue's row in queue_use.

alter procedure [readpast].enqueue_many
	@queue nvarchar(4000), @jobs nvarchar(max), @quiet bit = 0
as
set nocount on;
set xact_abort on;
declare @queue_id int, @priority int, @max_attempts int, @max_payload bigint,
        @moment datetime2(7), @us bigint, @now datetime2(3);
exec [readpast].check_job @queue, 1, 0, null, null, null, null, null, null, null, 0;
create table #job (
	number int not null, id bigint not null, payload varbinary(max) null,
	kind nvarchar(4000) null, headers nvarchar(max) null, priority int null,
	delay_ms bigint null, max_attempts int null, bad int null, due datetime2(3) null);
exec [readpast].read_jobs @jobs;
begin transaction;
exec [readpast].hold_queue @queue, @queue_id output, @priority output,
	@max_attempts output, @max_payload output;
if exists (select 1 from #job as a where datalength(a.payload) > @max_payload)
	throw 52004, N'a payload is larger than the queue''s max_payload', 1;
insert into [readpast].lane (queue_id, lane_id)
select distinct @queue_id, cast(@queue_id as bigint) * 1024 + a.priority * 4 + c.class
  from #job as a
 cross join (select 0 as class union all select 1 union all select 2) as c
 where a.priority is not null and not exists (
           select 1 from [readpast].lane as l
            where l.queue_id = @queue_id
              and l.lane_id = cast(@queue_id as bigint) * 1024 + a.priority * 4 + c.class);
set @moment = sysutcdatetime();
set @now = @moment;
set @us = datediff_big(microsecond, '1970-01-01', @moment);
update a
   set due = dateadd(millisecond, isnull(a.delay_ms, 0) % 1000, dateadd(second, isnull(a.delay_ms, 0) / 1000, @now))
  from #job as a;
insert into [readpast].job
       (lane_id, seq, id, queue_id, priority, max_attempts, run_at, created_at, kind,
        headers, payload)
select case when a.due > @now then -@queue_id
            else cast(@queue_id as bigint) * 1024 + isnull(a.priority, @priority) * 4 + 2 end,
       case when a.due > @now then datediff_big(microsecond, '1970-01-01', a.due)
            else @us + a.number end,
       a.id, @queue_id, isnull(a.priority, @priority),
       isnull(a.max_attempts, @max_attempts), a.due, @now, a.kind, a.headers, a.payload
  from #job as a;
commit transaction;
if @quiet = 0
	select a.number, a.id from #job as a order by a.number;
