-- is_bad_name: return whether a text must be refused as a name, because it is empty, is
-- too long, has control characters, or ends with a space. (A comparison ignores spaces
-- at the end, so two names that differ only in such spaces would be the same name.)
-- @name: the text. Null is not refused.
-- @most: the largest length that is allowed, in UTF-16 characters.
-- Result: 1 if the text must be refused, 0 if not.
-- Locks: none.

create function [readpast].is_bad_name(@name nvarchar(4000), @most int)
returns int
as
begin
	return case
		when @name is null then 0
		when datalength(@name) = 0 or len(@name) > @most then 1
		when right(@name, 1) = N' ' then 1
		when @name collate latin1_general_bin2
		     like N'%[' + nchar(1) + N'-' + nchar(31)
		          + nchar(127) + N'-' + nchar(159) + N']%' then 1
		else 0
	end;
end;
