-- bad_spec: raise an error that says what is wrong with the spec of a schedule.
-- spec: the text of the spec.
-- why: what is wrong.
-- Result: none, because the routine always raises an error with SQLSTATE RP003.
-- Locks: none.

create function readpast.bad_spec(spec text, why text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	raise exception 'schedule "%": %', left(spec, 60), why using errcode = 'RP003';
end
$body$;
