-- complete_text: settle a job that is done, with a text as its result. It is stored as
-- UTF-8.
-- id, claim_no, result: as in complete().
-- Result: as in complete().
-- Locks: the job's row. verdict() says which rows of other tables are locked.

create function readpast.complete(id bigint, claim_no bigint, result text)
returns text
language sql volatile as $body$
select readpast.complete(id, claim_no,
                         pg_catalog.convert_to(result, 'UTF8'))
$body$;
