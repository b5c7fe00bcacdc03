-- complete_text: complete a job and store a text result, as UTF-8.
-- id, claim_no, result: the parameters of complete().
-- Result: the result of complete().
-- Locks: the job's row, a row of `taken_key` if the job keeps its unique key, and if the
-- job has a group, the rows that free_group_slots() locks.

create function readpast.complete(id bigint, claim_no bigint, result text)
returns text
language sql volatile as $body$
select readpast.complete(id, claim_no,
                         pg_catalog.convert_to(result, 'UTF8'))
$body$;
