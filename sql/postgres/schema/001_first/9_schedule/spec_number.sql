-- spec_number: convert a word of a schedule's spec to a number.
-- word: up to three digits, or three letters.
-- low, high, names: see parse_item(), which has the same three parameters.
-- Result: the number. Null: the word is null, or the field has no such number or name.
-- Locks: none.

create function readpast.spec_number(word text, low integer, high integer,
                                     names text[])
returns integer
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	n integer := case when word ~ '^[0-9]' then word::integer
	             else array_position(names, upper(word collate "C")) + low - 1 end;
begin
	return case when n between low and high then n end;
end
$body$;
