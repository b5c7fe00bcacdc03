-- count_kept: the statement trigger of the archive. It adds a row to kept_count for
-- each queue and state, with the number of jobs that the statement added or removed.
-- The row is written in the same transaction. So the counts are exact, even if plain
-- SQL changes the archive.
-- Result: null, which an `after` trigger may return.
-- Locks: none. count_none() below locks all rows of kept_count, and waits for a sweep
-- that is merging these rows.

create function readpast.count_kept() returns trigger
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if tg_op <> 'DELETE' then
		insert into readpast.kept_count (queue_id, state, change)
		select a.queue_id,
		       case when a.state = 4 and (a.extra).keep_ms is not null then 14
		            else a.state end,
		       count(*)
		  from added a
		 group by 1, 2;
	end if;
	if tg_op <> 'INSERT' then
		insert into readpast.kept_count (queue_id, state, change)
		select r.queue_id,
		       case when r.state = 4 and (r.extra).keep_ms is not null then 14
		            else r.state end,
		       -count(*)
		  from removed r
		 group by 1, 2;
	end if;
	return null;
end
$body$;

-- count_none: the trigger that runs when `truncate` has emptied the archive. It deletes
-- all counts.
create function readpast.count_none() returns trigger
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	delete from readpast.kept_count;
	return null;
end
$body$;

create trigger count_none after truncate on readpast.archive
for each statement execute function readpast.count_none();

create trigger count_added after insert on readpast.archive
referencing new table as added
for each statement execute function readpast.count_kept();

create trigger count_removed after delete on readpast.archive
referencing old table as removed
for each statement execute function readpast.count_kept();

create trigger count_moved after update on readpast.archive
referencing old table as removed new table as added
for each statement execute function readpast.count_kept();
