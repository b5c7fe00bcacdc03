-- complete_json: complete a job and store a JSON result, as UTF-8 text.
-- id, claim_no, result: the parameters of complete().
-- Result: the result of complete().
-- Locks: the job's row, a row of `taken_key` if the job keeps its unique key, and if the
-- job has a group, the rows that free_group_slots() locks.

create function readpast.complete(id bigint, claim_no bigint, result jsonb)
returns text
language sql volatile as $body$
select readpast.complete(id, claim_no,
                         pg_catalog.convert_to(result::pg_catalog.text, 'UTF8'))
$body$;
