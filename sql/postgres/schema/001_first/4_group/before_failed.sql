-- before_failed: of each group, return the jobs that come before the first job that
-- could not be locked.
-- names, ids: the groups and the ids of the jobs, in the order of each group.
-- got: the ids of the jobs that were locked.
-- Result: the ids.
-- Locks: none.

create function readpast.before_failed(names text[], ids bigint[], got bigint[])
returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return array(
		select c.id
		  from (select c.id, c.number,
		               bool_and(c.id = any (got))
		                   over (partition by c.name order by c.number) as is_kept
		          from unnest(names, ids) with ordinality as c(name, id, number)) c
		 where c.is_kept
		 order by c.number);
end
$body$;
