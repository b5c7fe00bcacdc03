-- forget_hints: delete the rows about a dropped queue that claims, sweeps and workers
-- have written (rows of `waiter`, `cursor` and others).
-- queue_id: the queue.
-- Locks: the rows that the routine deletes. Rows that other transactions have locked
-- are skipped. Later sweeps delete the skipped rows.

create function readpast.forget_hints(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	first bigint := readpast.first_lane(queue_id);
	last  bigint := readpast.last_lane(queue_id);
begin
	delete from readpast.tally t
	 where t.ctid = any (array(
	           select t.ctid from readpast.tally t
	            where t.queue_id = forget_hints.queue_id
	              for update skip locked));
	delete from readpast.waiter s
	 where s.ctid = any (array(
	           select s.ctid from readpast.waiter s
	            where s.queue_id = forget_hints.queue_id
	              for update skip locked));
	delete from readpast.slot s
	 where s.ctid = any (array(
	           select s.ctid from readpast.slot s
	            where s.queue_id = forget_hints.queue_id
	              for update skip locked));
	delete from readpast.lane l
	 where l.ctid = any (array(
	           select l.ctid from readpast.lane l
	            where l.lane_id between first and last
	              for update skip locked));
	delete from readpast.cursor c
	 where c.ctid = any (array(
	           select c.ctid from readpast.cursor c
	            where c.lane_id between first and last
	              for update skip locked));
	delete from readpast.recheck r
	 where r.ctid = any (array(
	           select r.ctid from readpast.recheck r
	            where r.lane_id between first and last
	              for update skip locked));
end
$body$;
