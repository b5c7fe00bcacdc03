-- may_be_more: may a queue have recheck requests that are not among the given ones? That
-- is so if there were too many to return them all, or if one of them stands for many
-- groups.
-- requests: the result of next_requests().
-- Result: true or false.
-- Locks: none.

create function readpast.may_be_more(requests readpast.group_recheck[]) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $body$
select cardinality(requests) >= readpast.admit_slice()
       or exists (select 1 from unnest(requests) r where r.and_later)
$body$;
