-- lock_waiting: lock jobs that wait for their group, to admit them.
-- ids: the jobs.
-- Result: those that were locked and still wait, in the order of `ids`.
-- Locks: the jobs' rows, for update. Rows that other transactions have locked are skipped.

create function readpast.lock_waiting(ids bigint[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	-- Because of `offset 0` the inner query has no condition but the id, so it uses the
	-- primary key, and not an index in which all waiting jobs are equal.
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
