-- retry: make a dead or cancelled job ready again, with the same id, no attempts used,
-- and a larger claim number.
-- @id: the job.
-- @kind: if not null, only a job of this kind is retried.
-- Errors: 52001 the job is in another state, 52005 no such job, 52006 a live job has the
-- same unique key, 52008 doomed transaction.
-- Locks: the job's row in the archive. The call waits for an open transaction that
-- inserts the same unique key.

alter procedure [readpast].retry @id bigint, @kind nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
declare @queue_id int, @priority int, @moment datetime2(7) = sysutcdatetime(),
        @now datetime2(3), @message nvarchar(2048);
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
set @now = @moment;
begin transaction;
select @queue_id = a.queue_id, @priority = a.priority
  from [readpast].archive as a with (rowlock, updlock)
 where a.id = @id and a.state in (5, 6) and (@kind is null or a.kind = @kind);
if @queue_id is null
	exec [readpast].refuse_change @id, @kind;
exec [readpast].open_lane @queue_id, @priority;
insert into [readpast].job
       (lane_id, seq, id, queue_id, priority, claim_no, max_attempts, run_at, created_at,
        unique_key, kind, headers, last_error, failures, payload)
select cast(a.queue_id as bigint) * 1024 + a.priority * 4 + 2,
       datediff_big(microsecond, '1970-01-01', @moment), a.id, a.queue_id, a.priority,
       a.claim_no + 1, a.max_attempts, @now, a.created_at, a.unique_key, a.kind,
       a.headers, a.last_error, a.failures, a.payload
  from [readpast].archive as a
 where a.id = @id and a.state in (5, 6)
   and (a.unique_key is null or not exists (
           select 1 from [readpast].job as j with (updlock, holdlock)
            where j.queue_id = a.queue_id and j.unique_key = a.unique_key));
if @@rowcount = 0
begin
	set @message = concat(N'job ', @id, N' was not retried: a live job has its unique key');
	throw 52006, @message, 1;
end;
delete a from [readpast].archive as a with (rowlock) where a.id = @id;
commit transaction;
