-- forget_hints: Forget what claims, sweeps and workers have noted of a queue
-- that is gone.

create function readpast.forget_hints(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	first bigint := queue_id::bigint * 1024;
	last  bigint := first + 1023;
begin
	delete from readpast.tally t
	 where t.ctid = any (array(
	           select t.ctid from readpast.tally t
	            where t.queue_id = forget_hints.queue_id
	              for update skip locked));
	delete from readpast.sleeper s
	 where s.ctid = any (array(
	           select s.ctid from readpast.sleeper s
	            where s.queue_id = forget_hints.queue_id
	              for update skip locked));
	delete from readpast.short s
	 where s.ctid = any (array(
	           select s.ctid from readpast.short s
	            where s.queue_id = forget_hints.queue_id
	              for update skip locked));
	delete from readpast.lane l
	 where l.ctid = any (array(
	           select l.ctid from readpast.lane l
	            where l.lane_id between first and last
	              for update skip locked));
	delete from readpast.mark m
	 where m.ctid = any (array(
	           select m.ctid from readpast.mark m
	            where m.lane_id between first and last
	               or m.lane_id = -forget_hints.queue_id
	              for update skip locked));
	delete from readpast.walked w
	 where w.ctid = any (array(
	           select w.ctid from readpast.walked w
	            where w.lane_id between first and last
	              for update skip locked));
	delete from readpast.stray s
	 where s.ctid = any (array(
	           select s.ctid from readpast.stray s
	            where s.lane_id between first and last
	              for update skip locked));
end
$body$;
