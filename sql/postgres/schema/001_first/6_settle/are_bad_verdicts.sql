-- are_bad_verdicts: return whether these verdicts must be refused, because the arrays
-- differ in length or a value is out of range. The planner inlines this function.
-- ids .. errors: the parameters of settle(). ids and claim_nos must not be null. The
-- other arrays may be null.
-- Result: true if the verdicts must be refused, otherwise false or null.
-- Locks: none.

create function readpast.are_bad_verdicts(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[])
returns boolean
language sql immutable
as $body$
select ids is null or claim_nos is null
       or pg_catalog.cardinality(claim_nos)
          operator(pg_catalog.<>) pg_catalog.cardinality(ids)
       or pg_catalog.cardinality(verdicts)
          operator(pg_catalog.<>) pg_catalog.cardinality(ids)
       or pg_catalog.cardinality(delays_ms)
          operator(pg_catalog.<>) pg_catalog.cardinality(ids)
       or pg_catalog.cardinality(errors)
          operator(pg_catalog.<>) pg_catalog.cardinality(ids)
       or 0 operator(pg_catalog.>) any (verdicts)
       or 4 operator(pg_catalog.<) any (verdicts)
       or 0 operator(pg_catalog.>) any (delays_ms)
       or :most_ms operator(pg_catalog.<) any (delays_ms)
$body$;
