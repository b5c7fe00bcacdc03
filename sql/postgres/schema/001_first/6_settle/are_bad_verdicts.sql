-- are_bad_verdicts: Arrays of verdicts are of one length; all but the first two
-- may be null.

create function readpast.are_bad_verdicts(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[])
returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return ids is null or claim_nos is null
	       or cardinality(claim_nos) <> cardinality(ids)
	       or cardinality(verdicts) <> cardinality(ids)
	       or cardinality(delays_ms) <> cardinality(ids)
	       or cardinality(errors) <> cardinality(ids)
	       or 0 > any (verdicts) or 4 < any (verdicts)
	       or 0 > any (delays_ms) or :most_ms < any (delays_ms);
end
$body$;
