-- backoff_ms: return how long a job waits after an attempt failed. The time doubles
-- with each attempt, up to the queue's maximum.
-- @attempt: the number of the attempt that failed, from 1.
-- @backoff_ms, @backoff_max_ms: the queue's settings.
-- Result: milliseconds, without a random part.
-- Locks: none.

create function [readpast].backoff_ms(@attempt int, @backoff_ms bigint,
	@backoff_max_ms bigint)
returns bigint
as
begin
	declare @i int = 1;
	while @i < @attempt and @backoff_ms < @backoff_max_ms and @i < 25
	begin
		set @backoff_ms = @backoff_ms * 2;
		set @i = @i + 1;
	end;
	return case when @backoff_ms > @backoff_max_ms then @backoff_max_ms
	            else @backoff_ms end;
end;
