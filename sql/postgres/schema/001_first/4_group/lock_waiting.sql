-- lock_waiting: lock jobs that wait for their group, to admit them.
-- ids: the jobs.
-- Result: the jobs that were locked and still wait, in the order of `ids`.
-- Locks: the jobs' rows, for update. Rows that other transactions have locked are
-- skipped.

create function readpast.lock_waiting(ids bigint[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	-- `offset 0` keeps the other conditions out of the inner query. So the inner query
	-- uses the primary key, and not a partial index that has all jobs of the ready line,
	-- or all waiting jobs with the same key.
	return array(select l.id
	               from (select j.id, j.seq, j.run_at
	                       from readpast.job j
	                      where j.id = any (ids)
	                     offset 0
	                        for update skip locked) l
	              where l.seq is null and l.run_at = 'infinity'
	              order by array_position(ids, l.id));
end
$body$;
