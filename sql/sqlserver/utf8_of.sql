-- utf8_of: encode a text as UTF-8. (The server's own UTF-8 needs SQL Server 2019.)
-- @text: the text.
-- Result: its bytes.
-- Locks: none.

create function [readpast].utf8_of(@text nvarchar(max))
returns varbinary(max)
as
begin
	declare @bytes varbinary(max) = 0x, @part varbinary(8000) = 0x, @i bigint = 1,
	        @end bigint = datalength(@text) / 2, @c int, @low int, @one varbinary(4);
	if @text collate latin1_general_bin2
	   not like N'%[^' + nchar(1) + N'-' + nchar(127) + N']%'
		return convert(varbinary(max), convert(varchar(max), @text));
	while @i <= @end
	begin
		set @c = unicode(substring(@text, @i, 1));
		set @i = @i + 1;
		if @c is null
			break;
		if @c between 55296 and 56319 and @i <= @end
		begin
			set @low = unicode(substring(@text, @i, 1));
			if @low between 56320 and 57343
			begin
				set @c = 65536 + (@c - 55296) * 1024 + @low - 56320;
				set @i = @i + 1;
			end;
		end;
		if @c < 128
			set @one = convert(binary(1), @c);
		else if @c < 2048
			set @one = convert(binary(2), 49280 + @c / 64 * 256 + @c % 64);
		else
			set @one = convert(binary(3), case when @c < 65536 then 14712960
			                                   else 8421504 end
			           + @c / 4096 % 64 * 65536 + @c / 64 % 64 * 256 + @c % 64);
		if @c >= 65536
			set @one = convert(varbinary(4), convert(binary(1), 240 + @c / 262144)) + @one;
		set @part = @part + @one;
		if datalength(@part) > 4000
		begin
			set @bytes = @bytes + @part;
			set @part = 0x;
		end;
	end;
	return @bytes + @part;
end;
