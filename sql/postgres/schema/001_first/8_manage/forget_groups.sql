-- forget_groups: delete the rows that claims and enqueues have written about the groups
-- and the rate of a dropped queue. If a job that waits for its group was committed while
-- queue_drop() ran, its row of group_wait stays, because take_over() finds the job by this
-- row.
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
	              and not exists (select 1 from readpast.job j
	                               where j.id = w.job_id and j.queue_id = w.queue_id)
	              for update of w skip locked));
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
