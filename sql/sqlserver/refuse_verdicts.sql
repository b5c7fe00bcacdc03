-- refuse_verdicts: write into #verdict why verdicts were refused.
-- Called by `settle`, in a transaction.
-- Locks: none.

alter procedure [readpast].refuse_verdicts
as
set nocount on;
set xact_abort on;
declare @drawn bigint;
if not exists (select 1 from #verdict as v where v.result is null)
	return;
-- The sequence has given each job its id. So no job has ever had its next number,
-- @drawn, or a larger one.
set @drawn = next value for [readpast].job_id;
update v
   set result = case when v.id >= @drawn or v.id < 1 then N'unknown' else N'gone' end,
       state = null
  from #verdict as v
 where v.result is null;
update v
   set result = N'cancelled'
  from #verdict as v, [readpast].archive as a
 where v.result = N'gone' and a.id = v.id and a.state = 6 and a.claim_no = v.claim_no;
