-- complete_many: several jobs are done.
-- ids, claim_nos: of the same length, as claim() gave them; results: of the same length,
-- or null, as of complete().
-- Rows: one for each, in order. accepted: false if the verdict was refused, which
-- is no error. RP003: the arrays are not of the same length;
-- RP004: a result is too large.
-- Locks: the jobs' rows.

create function readpast.complete(ids bigint[], claim_nos bigint[],
                                  results bytea[] default null)
returns table (id bigint, accepted boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if readpast.are_bad_verdicts(ids, claim_nos, null, null, null) then
		raise exception 'there are more ids than claim_nos, or less'
			using errcode = 'RP003';
	end if;
	return query
	with refused as materialized (
		select t.number
		  from readpast.settle_and_claim(null, ids => ids,
		                                 claim_nos => claim_nos,
		                                 results => results) t
		 where t.number > 0)
	select v.id,
	       not exists (select 1 from refused r where r.number = v.number)
	  from unnest(ids) with ordinality as v(id, number)
	 order by v.number;
end
$body$;
