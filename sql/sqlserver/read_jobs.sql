-- read_jobs: fill the table #job of enqueue_many from JSON, and check it.
-- @jobs: the parameter of enqueue_many.
-- Errors: 52003 wrong JSON or argument.
-- Locks: none.

alter procedure [readpast].read_jobs @jobs nvarchar(max)
as
set nocount on;
set xact_abort on;
declare @message nvarchar(2048), @number int;
if @jobs is null or isjson(@jobs) = 0 or left(ltrim(@jobs), 1) <> N'['
	throw 52003, N'the jobs are not a JSON array', 1;
insert into #job (number, id, payload, kind, headers, priority, delay_ms, max_attempts, bad)
select cast(a.[key] as int) + 1, next value for [readpast].job_id,
       case when v.text is null then try_convert(varbinary(max), cast(v.payload as varchar(max)), 2)
            else [readpast].utf8_of(v.text) end,
       left(v.kind, 129), v.headers, try_convert(int, v.priority),
       try_convert(bigint, v.delay_ms), try_convert(int, v.max_attempts),
       case when v.text is not null and v.payload is not null
              or v.priority is not null and try_convert(int, v.priority) is null
              or v.delay_ms is not null and try_convert(bigint, v.delay_ms) is null
              or v.max_attempts is not null and try_convert(int, v.max_attempts) is null
            then 1 end
  from openjson(@jobs) as a
 cross apply openjson(case when a.type = 5 then a.value else N'{}' end)
       with (text nvarchar(max) '$.text', payload nvarchar(max) '$.payload',
             kind nvarchar(max) '$.kind', headers nvarchar(max) '$.headers' as json,
             priority nvarchar(30) '$.priority', delay_ms nvarchar(30) '$.delay_ms',
             max_attempts nvarchar(30) '$.max_attempts') as v;
select top (1) @number = a.number, @message = case
	when a.payload is null or a.bad = 1 then
		N'give text, or payload in hexadecimal digits, and not both; priority, delay_ms and max_attempts must be numbers'
	when [readpast].is_bad_name(a.kind, 128) = 1 then
		N'the kind must have 1 to 128 characters, no control characters and no space at the end'
	when left(ltrim(a.headers), 1) <> N'{' then N'the headers are not a JSON object'
	when a.priority < 0 or a.priority > 255 then N'the priority is not within 0..255'
	when a.delay_ms < 0 or a.delay_ms > 315360000000 then
		N'the delay is not within 0..3650 days'
	else N'max_attempts is not within 1..1000000000'
	end
  from #job as a
 where a.payload is null or a.bad = 1 or [readpast].is_bad_name(a.kind, 128) = 1
    or left(ltrim(a.headers), 1) <> N'{' or a.priority < 0 or a.priority > 255
    or a.delay_ms < 0 or a.delay_ms > 315360000000
    or a.max_attempts < 1 or a.max_attempts > 1000000000
 order by a.number;
if @message is not null
begin
	set @message = concat(N'job ', @number, N': ', @message);
	throw 52003, @message, 1;
end;
