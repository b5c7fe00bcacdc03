-- complete: the job is done.
-- id, claim_no: as claim() gave them; result: :most_result bytes at most, kept with the
-- job if that is kept.
-- Result: its state, `done`. RP001 to RP005: as verdict() says.
-- Locks: the job's row.

create function readpast.complete(id bigint, claim_no bigint,
                                  result bytea default null) returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 0, null, null, result)
$body$;
