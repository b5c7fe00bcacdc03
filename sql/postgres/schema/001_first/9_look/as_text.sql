-- as_text: convert a payload to text for people.
-- payload: any bytes.
-- Result: the text if the payload is UTF-8, otherwise \x and hexadecimal digits.
-- Locks: none.

create function readpast.as_text(payload bytea) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return convert_from(payload, 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
	return payload::text;
end
$body$;
