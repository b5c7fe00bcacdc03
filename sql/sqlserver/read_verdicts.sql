-- read_verdicts: fill the table #verdict of `settle` from JSON, and check it.
-- @verdicts: the parameter of `settle`.
-- Errors: 52003 wrong JSON or argument.
-- Locks: none.

alter procedure [readpast].read_verdicts @verdicts nvarchar(max)
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048), @number int;
insert into #verdict (number, id, claim_no, verdict, delay_ms, error, class)
select cast(a.[key] as int) + 1, try_convert(bigint, v.id),
       try_convert(bigint, v.claim_no), left(v.verdict, 10),
       try_convert(bigint, v.delay_ms), left(v.error, 4000),
       case when v.delay_ms is not null and try_convert(bigint, v.delay_ms) is null
            then -1 end
  from openjson(@verdicts) as a
 cross apply openjson(case when a.type = 5 then a.value else N'{}' end)
       with (id nvarchar(30) '$.id', claim_no nvarchar(30) '$.claim_no',
             verdict nvarchar(max) '$.verdict', delay_ms nvarchar(30) '$.delay_ms',
             error nvarchar(max) '$.error') as v;
select top (1) @number = v.number, @message = case
	when v.id is null or v.claim_no is null then
		N'id and claim_no must be numbers'
	when v.verdict is null
	     or v.verdict not in (N'done', N'fail', N'dead', N'release', N'extend') then
		N'the verdict must be done, fail, dead, release or extend'
	when v.class = -1 or v.delay_ms < 0 or v.delay_ms > 315360000000 then
		N'delay_ms is not within 0..3650 days'
	when v.verdict = N'extend' and v.delay_ms < 1 then
		N'the lease is not within 1 ms..3650 days'
	else N'another verdict names the same job'
	end
  from #verdict as v
 where v.id is null or v.claim_no is null or v.verdict is null
    or v.verdict not in (N'done', N'fail', N'dead', N'release', N'extend')
    or v.class = -1 or v.delay_ms < 0 or v.delay_ms > 315360000000
    or v.verdict = N'extend' and v.delay_ms < 1
    or exists (select 1 from #verdict as o where o.id = v.id and o.number < v.number)
 order by v.number;
if @message is not null
begin
	set @message = concat(N'verdict ', @number, N': ', @message);
	throw 52003, @message, 1;
end;
