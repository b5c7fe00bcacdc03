-- complete_text: complete() for a result that is text, stored as UTF-8.
-- Parameters: as of complete().
-- Result: as of complete().
-- Locks: the job's row.

create function readpast.complete(id bigint, claim_no bigint, result text)
returns text
language sql volatile as $body$
select readpast.complete(id, claim_no,
                         pg_catalog.convert_to(result, 'UTF8'))
$body$;
