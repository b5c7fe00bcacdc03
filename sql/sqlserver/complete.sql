-- complete: settle a job that is done.
-- @id, @claim_no: the values that `claim` returned.
-- Rows: one, with the job's state: done.
-- Errors: see settle_one.
-- Locks: the job's row.

alter procedure [readpast].complete @id bigint, @claim_no bigint
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
-- Most jobs are not kept. To complete such a job, one statement is enough.
delete j
  from [readpast].job as j with (rowlock, index (job_id))
 where j.id = @id and j.claim_no = @claim_no and j.worker_id is not null
   and exists (select 1 from [readpast].queue as q
                where q.id = j.queue_id and q.keep_done_ms = 0);
if @@rowcount = 0
	exec [readpast].settle_one @id, @claim_no, N'done', null, null;
else
	select N'done' as state;
