-- complete_json: complete() for a result that is JSON, stored as its text in UTF-8.
-- Parameters: as of complete().
-- Result: as of complete().
-- Locks: the job's row.

create function readpast.complete(id bigint, claim_no bigint, result jsonb)
returns text
language sql volatile as $body$
select readpast.complete(id, claim_no,
                         pg_catalog.convert_to(result::pg_catalog.text, 'UTF8'))
$body$;
