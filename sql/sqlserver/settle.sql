-- settle: apply verdicts. Each verdict names a job and the claim number that the claim
-- returned. If a later claim has taken the job, the job has another claim number, and
-- the verdict changes nothing. No clock is compared.
-- @verdicts: a JSON array of objects with the members id, claim_no, verdict (done, fail,
-- dead, release or extend), delay_ms and error (the text of a failure). delay_ms is how
-- long a failed or released job waits, or the length of the new lease. If delay_ms is
-- null, a failed job waits for the queue's backoff, a new lease has the length that is
-- set for the queue, and a released job does not wait.
-- @quiet: 1: return no rows.
-- @result, @state: the answer to the last verdict.
-- Rows: one for each verdict: number, id, claim_no, result (ok; gone: this claim no
-- longer has the job; cancelled; unknown: no job ever had the id), and the job's new
-- state.
-- Errors: 52003 wrong JSON or argument, 52008 doomed transaction.
-- Locks: the jobs' rows. The call waits for transactions that have locked them.

alter procedure [readpast].settle
	@verdicts nvarchar(max), @quiet bit = 0, @result nvarchar(10) = null output,
	@state nvarchar(10) = null output
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if @verdicts is null or isjson(@verdicts) = 0 or left(ltrim(@verdicts), 1) <> N'['
	throw 52003, N'the verdicts are not a JSON array', 1;
create table #verdict (
	number int not null, id bigint null, claim_no bigint null,
	verdict nvarchar(10) collate Latin1_General_BIN2 null, delay_ms bigint null,
	error nvarchar(4000) null, queue_id int null, lane_id bigint null,
	seq bigint null, class int null, run_at datetime2(3) null,
	failures nvarchar(max) null, keeps int null, state int null,
	result nvarchar(10) null);
exec [readpast].read_verdicts @verdicts;
begin transaction;
exec [readpast].plan_verdicts;
exec [readpast].apply_verdicts;
exec [readpast].refuse_verdicts;
commit transaction;
select top (1) @result = v.result, @state = [readpast].state_word(v.state)
  from #verdict as v
 order by v.number desc;
if @quiet = 0
	select v.number, v.id, v.claim_no, v.result,
	       case when v.result = N'ok' then [readpast].state_word(v.state) end as state
	  from #verdict as v
	 order by v.number;
