-- with_failure: add a failed attempt to a job's list of failures. The list has at most
-- ten elements. If it is full, the oldest element is removed.
-- @failures: the list so far, a JSON array, or null.
-- @attempt, @at, @worker, @error: the attempt. The worker and the error may be null.
-- Result: the new list.
-- Locks: none.

create function [readpast].with_failure(@failures nvarchar(max), @attempt int,
	@at datetime2(3), @worker nvarchar(255), @error nvarchar(4000))
returns nvarchar(max)
as
begin
	declare @one nvarchar(max), @list nvarchar(max) = isnull(@failures, N'[]');
	set @one = (select @attempt as attempt,
	                   datediff_big(millisecond, '1970-01-01', @at) as at,
	                   @worker as worker, @error as text
	               for json path, without_array_wrapper);
	-- Do not use stuff() here, because stuff() cannot remove more than 8,000 bytes
	-- from a text.
	if (select count(*) from openjson(@list)) >= 10
		set @list = N'[' + substring(@list, len(json_query(@list, N'$[0]')) + 3,
		                             datalength(@list));
	return left(@list, len(@list) - 1) + case when @list = N'[]' then N'' else N',' end
	       + @one + N']';
end;
