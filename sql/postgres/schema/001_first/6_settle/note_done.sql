-- note_done: update other tables after some jobs were completed. The routine keeps the
-- jobs' unique keys taken for a while, and lets the next jobs of their groups into the
-- ready line.
-- keys: the keys to keep, or null.
-- slots: the jobs that have a group, or null.
-- joined: see stays_open().
-- Result: none.
-- Locks: rows of `taken_key` for the keys, and the rows that free_group_slots() locks.

create function readpast.note_done(keys readpast.taken_key[],
                                   slots readpast.group_slot[],
                                   joined boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if keys is not null then
		perform readpast.take_keys(keys);
	end if;
	if slots is not null then
		perform readpast.free_group_slots(slots, joined);
	end if;
end
$body$;
