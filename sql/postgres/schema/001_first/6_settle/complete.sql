-- complete: settle a job that is done.
-- id, claim_no: the values that claim() returned.
-- result: at most :most_result bytes, or null. The result is stored if the job is kept.
-- Result: the job's new state, `done`. SQLSTATE RP001 to RP005: see verdict().
-- Locks: the job's row, a row of `taken_key` if the job keeps its unique key, and if the
-- job has a group, the rows that free_group_slots() locks.

create function readpast.complete(id bigint, claim_no bigint,
                                  result bytea default null) returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 0, null, null, result)
$body$;
