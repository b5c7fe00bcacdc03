-- state_word: return the word for a state's number.
-- @state: 1 to 6.
-- Result: the word.
-- Locks: none.

create function [readpast].state_word(@state int)
returns nvarchar(10)
as
begin
	return case @state when 1 then N'scheduled' when 2 then N'ready'
	                   when 3 then N'running' when 4 then N'done'
	                   when 5 then N'dead' when 6 then N'cancelled' end;
end;
