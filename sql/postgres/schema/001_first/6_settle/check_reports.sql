-- check_reports: raise an error if results or progresses cannot be stored.
-- ids, results, progresses: the parameters of settle().
-- Result: none. SQLSTATE RP003: an array has another length than ids. SQLSTATE RP004: a
-- result or a progress is too large.
-- Locks: none.

create function readpast.check_reports(ids bigint[], results bytea[],
                                       progresses text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
declare
	n    integer := cardinality(ids);
	size integer;
begin
	if cardinality(results) <> n or cardinality(progresses) <> n then
		perform readpast.refuse_round_trip(null, 0, ids);
	end if;
	size := (select max(octet_length(r.result)) from unnest(results) r(result));
	if size > :most_result then
		raise exception 'the result has % bytes, more than :most_result', size
			using errcode = 'RP004';
	end if;
	size := (select max(octet_length(convert_to(p.progress, 'UTF8')))
	           from unnest(progresses) p(progress));
	if size > :most_progress then
		raise exception 'the progress has % bytes, more than :most_progress', size
			using errcode = 'RP004';
	end if;
end
$body$;
