-- need_name: raise an error if a text is not valid as a name, see is_bad_name().
-- what: what the error message calls the text, such as `the kind`.
-- name: the text. Null is valid, unless the parameter `required` is true.
-- most: the largest allowed length, in bytes.
-- Result: none. SQLSTATE RP003: the text is not valid.
-- Locks: none.

create function readpast.need_name(what text, name text, most integer,
                                   required boolean default false)
returns void
language plpgsql immutable
as $body$
begin
	if coalesce(readpast.is_bad_name(name, most), required) then
		raise exception '% must have 1 to % bytes and no control characters',
			what, most using errcode = 'RP003';
	end if;
end
$body$;
