-- before_failed: keep those candidates that come before the first candidate of their
-- group that could not be locked.
-- names, ids: the groups and the ids of the candidates, in the order of each group.
-- got: the ids of those that were locked.
-- Result: the ids that are kept.
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
