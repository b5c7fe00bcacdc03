-- not_ahead: Of places in line, locked, those in front of the first job with a
-- single attempt, or a payload over 1 MiB, that would not be among the first
-- `at_once`.

create function readpast.not_ahead(places tid[], at_once integer) returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return places[:(select coalesce(min(array_position(places, j.ctid)) - 1,
	                                cardinality(places))
	                  from readpast.job j
	                 where j.ctid = any (places)
	                   and (j.max_attempts = 1
	                        or octet_length(j.payload) > :large_payload)
	                   and array_position(places, j.ctid) > at_once)];
end
$body$;
