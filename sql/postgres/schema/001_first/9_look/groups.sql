-- groups: show the groups of a queue. See groups_of(), which has more parameters.
-- queue: the name of the queue.
-- blocked: true to show only groups that have blocked jobs.
-- after: show groups whose names come after this one.
-- most: the largest number of groups, at least 1.
-- Rows: one for each group, with the columns of groups_of(). SQLSTATE RP003: an argument
-- is wrong.
-- Locks: none.

create function readpast.groups(queue text, blocked boolean default false,
                                after text default '', most integer default 1000)
returns table (name text, waiting bigint, ready bigint, running bigint,
               held_until timestamptz, waiting_at_least boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if most is null or most < 1 then
		raise exception 'the argument most must be at least 1' using errcode = 'RP003';
	end if;
	return query
	select g.* from readpast.groups_of(queue, blocked, after, most, :most_counted) as g;
end
$body$;
