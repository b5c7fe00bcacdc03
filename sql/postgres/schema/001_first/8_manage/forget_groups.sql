-- forget_groups: delete the rows that claims and enqueues have written about the groups
-- and the rate of a dropped queue.
-- queue_id: the queue.
-- Locks: the rows that the routine deletes. Rows that other transactions have locked
-- are skipped. Later sweeps delete the skipped rows.

create function readpast.forget_groups(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	delete from readpast.group_slot g
	 where g.ctid = any (array(
	           select g.ctid from readpast.group_slot g
	            where g.queue_id = forget_groups.queue_id
	              for update skip locked));
	delete from readpast.group_wait w
	 where w.ctid = any (array(
	           select w.ctid from readpast.group_wait w
	            where w.queue_id = forget_groups.queue_id
	              for update skip locked));
	delete from readpast.group_recheck r
	 where r.ctid = any (array(
	           select r.ctid from readpast.group_recheck r
	            where r.queue_id = forget_groups.queue_id
	              for update skip locked));
	delete from readpast.group_cursor c
	 where c.ctid = any (array(
	           select c.ctid from readpast.group_cursor c
	            where c.queue_id = forget_groups.queue_id
	              for update skip locked));
	delete from readpast.group_hold h
	 where h.ctid = any (array(
	           select h.ctid from readpast.group_hold h
	            where h.queue_id = forget_groups.queue_id
	              for update skip locked));
	delete from readpast.start b
	 where b.ctid = any (array(
	           select b.ctid from readpast.start b
	            where b.queue_id = forget_groups.queue_id
	              for update skip locked));
end
$body$;
