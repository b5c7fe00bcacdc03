-- utf8_of: encode a text as UTF-8. (The server's own UTF-8 needs SQL Server 2019.)
-- The bytes are written as hexadecimal digits first, because Babelfish cannot append
-- bytes to bytes.
-- @text: the text.
-- Result: its bytes.
-- Locks: none.

create function [readpast].utf8_of(@text nvarchar(max))
returns varbinary(max)
as
begin
	declare @hex varchar(max) = '', @part varchar(8000) = '', @i bigint = 1,
	        @end bigint, @c int, @low int, @digits int, @bytes bigint;
	if @text collate Latin1_General_BIN2
	   not like N'%[^' + nchar(1) + N'-' + nchar(127) + N']%'
		return convert(varbinary(max), convert(varchar(max), @text));
	-- len() ignores spaces at the end of its argument.
	set @end = len(@text + N'.') - 1;
	while @i <= @end
	begin
		set @c = unicode(substring(@text, @i, 1));
		set @i = @i + 1;
		set @low = unicode(substring(@text, @i, 1));
		-- Two surrogates stand for one character above U+FFFF.
		if @c between 55296 and 56319 and @low between 56320 and 57343
		begin
			set @c = 65536 + (@c - 55296) * 1024 + @low - 56320;
			set @i = @i + 1;
		end;
		-- The bytes of the character, as one number.
		set @digits = case when @c < 128 then 2 when @c < 2048 then 4
		                   when @c < 65536 then 6 else 8 end;
		set @bytes = case @digits
			when 2 then @c
			when 4 then 49280 + @c / 64 * 256 + @c % 64
			when 6 then 14712960 + @c / 4096 * 65536 + @c / 64 % 64 * 256 + @c % 64
			else 4034953344 + cast(@c / 262144 as bigint) * 16777216
			     + @c / 4096 % 64 * 65536 + @c / 64 % 64 * 256 + @c % 64 end;
		while @digits > 0
		begin
			set @digits = @digits - 1;
			set @part = @part + substring('0123456789ABCDEF',
				cast(@bytes / power(cast(16 as bigint), @digits) % 16 as int) + 1, 1);
		end;
		if len(@part) > 4000
		begin
			set @hex = @hex + @part;
			set @part = '';
		end;
	end;
	return convert(varbinary(max), @hex + @part, 2);
end;
