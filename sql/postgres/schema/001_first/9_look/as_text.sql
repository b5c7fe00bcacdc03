-- as_text: a payload as people read it: as text, or as the server shows bytes if it is
-- not valid UTF-8.

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
