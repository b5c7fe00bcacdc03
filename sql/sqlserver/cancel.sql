-- cancel: cancel a live job. The job moves to the archive at once, and its unique
-- key is free. If a worker holds the job, the worker's next extend or verdict on it
-- is refused.
-- @id: the job.
-- @kind: if not null, only a job of this kind is cancelled.
-- Errors: 52001 the job has ended, 52005 no such job, 52008 doomed transaction.
-- Locks: the job's row. The call waits for a transaction that settles the job.

alter procedure [readpast].cancel @id bigint, @kind nvarchar(4000) = null
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
create table #leaving (id bigint not null, state int null, error nvarchar(4000) null,
	failures nvarchar(max) null);
begin transaction;
-- This update only locks the row, because put_away needs it locked.
update j
   set renewed = 0
  from [readpast].job as j with (rowlock, index (job_id))
 where j.id = @id and (@kind is null or j.kind = @kind);
if @@rowcount = 0
	exec [readpast].refuse_change @id, @kind;
insert into #leaving (id, state) values (@id, 6);
exec [readpast].put_away;
commit transaction;
