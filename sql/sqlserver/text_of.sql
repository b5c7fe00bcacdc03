-- text_of: decode a payload that is UTF-8.
-- @bytes: the payload.
-- Result: its text, or 0x and hexadecimal digits if it is not UTF-8.
-- Locks: none.

create function [readpast].text_of(@bytes varbinary(max))
returns nvarchar(max)
as
begin
	declare @text nvarchar(max) = convert(nvarchar(max), N''),
	        @part nvarchar(4000) = N'', @i bigint = 1,
	        @end bigint = datalength(@bytes), @b int, @more int, @c int, @least int;
	while @i <= @end
	begin
		set @b = convert(int, substring(@bytes, @i, 1));
		set @more = case when @b < 128 then 0 when @b between 194 and 223 then 1
		                 when @b between 224 and 239 then 2
		                 when @b between 240 and 244 then 3 end;
		set @least = case @more when 0 then 1 when 1 then 128 when 2 then 2048
		                        else 65536 end;
		set @c = case @more when 0 then @b when 1 then @b - 192
		                    when 2 then @b - 224 else @b - 240 end;
		if @more is null or @i + @more > @end
			return convert(nvarchar(max), convert(varchar(max), @bytes, 1));
		while @more > 0
		begin
			set @i = @i + 1;
			set @more = @more - 1;
			set @b = convert(int, substring(@bytes, @i, 1));
			if @b not between 128 and 191
				return convert(nvarchar(max), convert(varchar(max), @bytes, 1));
			set @c = @c * 64 + @b - 128;
		end;
		if @c < @least or @c between 55296 and 57343 or @c > 1114111
			return convert(nvarchar(max), convert(varchar(max), @bytes, 1));
		-- nchar() returns null for a character above U+FFFF unless the
		-- database's collation supports such characters. If it returns null,
		-- join two surrogates.
		set @part = @part + isnull(nchar(@c), nchar(55232 + @c / 1024)
		                                      + nchar(56320 + @c % 1024));
		set @i = @i + 1;
		if datalength(@part) > 4000
		begin
			set @text = @text + @part;
			set @part = N'';
		end;
	end;
	return @text + @part;
end;
