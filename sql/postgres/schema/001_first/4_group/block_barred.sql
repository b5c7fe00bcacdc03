-- block_barred: after some jobs have become ready, take the jobs that may not run now
-- out of the ready line again, see barred_jobs().
-- ids: the jobs, which the caller has locked.
-- Result: none.
-- Locks: the rows of group_slot that block_jobs() deletes.

create function readpast.block_barred(ids bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	barred bigint[] := readpast.barred_jobs(ids);
begin
	if barred <> '{}' then
		perform readpast.block_jobs(barred);
	end if;
end
$body$;
