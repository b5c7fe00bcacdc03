-- complete_many: settle several jobs that are done.
-- ids, claim_nos: the values that claim() returned, in two arrays of the same length.
-- results: an array of the same length, or null.
-- Rows: one for each job, in the order of the arrays. `accepted` is false if the
-- verdict was refused, which raises no error. SQLSTATE RP003: the arrays differ in
-- length. SQLSTATE RP004: a result is too large.
-- Locks: the jobs' rows, a row of `taken_key` for each job that keeps its unique key, and
-- for each job of a group the rows that free_group_slots() locks.

create function readpast.complete(ids bigint[], claim_nos bigint[],
                                  results bytea[] default null)
returns table (id bigint, accepted boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	answer record;
	-- For each position of the arrays: true if the verdict is accepted.
	taken  boolean[];
begin
	if readpast.are_bad_verdicts(ids, claim_nos, null, null, null) then
		raise exception 'ids and claim_nos must be arrays of the same length'
			using errcode = 'RP003';
	end if;
	taken := array_fill(true, array[cardinality(ids)]);
	for answer in
		select t.number, t.result, t.queue_id
		  from readpast.settle_and_claim(null, ids => ids, claim_nos => claim_nos,
		                                 results => results) t loop
		if answer.number = 0 then
			perform readpast.count_ended(answer.queue_id, answer.result, 0);
		else
			taken[answer.number] := false;
		end if;
	end loop;
	return query
	select v.id, v.taken
	  from unnest(ids, taken) with ordinality as v(id, taken, number)
	 order by v.number;
end
$body$;
