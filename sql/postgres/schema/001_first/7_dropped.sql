-- Schema 1: jobs that are left of queues that were dropped.
--
-- An enqueue locks nothing of its queue. So its transaction may be open while the
-- queue is dropped, and commit later: its jobs are in a queue that is no more. They
-- came after the drop, so they belong into a new queue of that name, where the
-- sweep takes them.
--
-- `dropped` says where to look. Each enqueue is given its transaction's number
-- before it reads the queue's row. A sweep that saw the note before it was given its
-- own number therefore has a larger one than all that may have read that row. When
-- these have ended, no more jobs can come and the note is removed. Until then the
-- sweep looks again whenever one of them has ended.

-- Notes that have no sweep's number yet; none where this transaction has a number.
create function readpast.drops_to_note() returns integer[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if pg_current_xact_id_if_assigned() is not null then
		return '{}';
	end if;
	return array(select d.queue_id from readpast.dropped d where d.xid is null);
end
$body$;

-- Give them this transaction's.
create function readpast.note_drops(queue_ids integer[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if queue_ids = '{}' then
		return;
	end if;
	update readpast.dropped d
	   set xid = pg_current_xact_id()
	 where d.ctid = any (array(
	           select d.ctid from readpast.dropped d
	            where d.queue_id = any (queue_ids) and d.xid is null
	              for update skip locked));
end
$body$;

-- Jobs that are left in dropped queues move to new queues of the same names.
create function readpast.sweep_dropped() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it   record;
	seen pg_snapshot;
	over boolean;
begin
	for it in select d.queue_id, d.name, d.xid, d.open from readpast.dropped d
	loop
		seen := pg_current_snapshot();
		-- A number that nobody here was given yet, not even this transaction, came
		-- with a dump from elsewhere.
		over := it.xid < pg_snapshot_xmin(seen)
		        or it.xid >= pg_snapshot_xmax(seen)
		           and it.xid is distinct from pg_current_xact_id_if_assigned();
		continue when over is not true and it.xid <= pg_snapshot_xmax(it.open)
		              and not exists (
		                  select 1 from pg_snapshot_xip(it.open) as x(xid)
		                   where x.xid < it.xid
		                     and pg_visible_in_snapshot(x.xid, seen));
		perform 1
		   from readpast.dropped d
		  where d.queue_id = it.queue_id
		    for update skip locked;
		continue when not found;
		perform readpast.take_over(it.queue_id, it.name);
		if over and not exists (select 1 from readpast.left_in(it.queue_id)) then
			perform readpast.forget_hints(it.queue_id);
			delete from readpast.dropped d where d.queue_id = it.queue_id;
		else
			update readpast.dropped d
			   set open = seen
			 where d.queue_id = it.queue_id;
		end if;
	end loop;
end
$body$;

-- The ids of a queue's jobs, live and kept, by the indexes alone.
create function readpast.left_in(queue_id integer)
returns table (id bigint, live boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_column
begin
	return query
	select j.id, true
	  from readpast.job j
	 where j.lane_id between left_in.queue_id::bigint * 1024
	                     and left_in.queue_id::bigint * 1024 + 1023
	   and j.seq is not null
	union all
	select j.id, true
	  from readpast.job j
	 where j.queue_id = left_in.queue_id and j.seq is null
	union all
	select a.id, false
	  from readpast.archive a
	 where a.queue_id = left_in.queue_id;
end
$body$;

-- Jobs of a queue that is gone come into the queue of that name, which is made if
-- need be. What somebody has locked stays for the next time; so does all if the
-- queue is just being made by a transaction that stays open.
create function readpast.take_over(queue_id integer, queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
	live   bigint[];
	kept   bigint[];
	new_id integer;
	it     record;
begin
	select array_agg(l.id) filter (where l.live),
	       array_agg(l.id) filter (where not l.live)
	  into live, kept
	  from readpast.left_in(take_over.queue_id) l;
	if live is null and kept is null then
		return;
	end if;
	perform readpast.queue_create(queue);
	select q.id into new_id from readpast.queue q where q.name = queue;
	update readpast.archive a
	   set queue_id = new_id
	 where a.id = any (array(
	           select a.id from readpast.archive a
	            where a.id = any (kept) and a.queue_id = take_over.queue_id
	              for update skip locked));
	for it in
		select j.id
		  from readpast.job j
		 where j.id = any (live) and j.queue_id = take_over.queue_id
		 order by j.id
		   for update skip locked
	loop
		perform readpast.take_over_job(it.id, new_id);
	end loop;
	perform readpast.wake(new_id);
exception when lock_not_available then
	null;
end
$body$;

-- The job, locked, at the end of its lane there, or in its time. Its key goes with
-- it unless a job there has it: the job was acknowledged, and is not lost for that.
create function readpast.take_over_job(id bigint, new_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	it     record;
	lane   bigint;
	gone   boolean;
begin
	select j.lane_id, j.lease_until, j.lease_until <= moment as expired,
	       j.seq is not null or j.run_at <= moment as due,
	       j.unique_key
	  into it
	  from readpast.job j
	 where j.id = take_over_job.id;
	lane := readpast.lane_of(new_id, readpast.priority_of(it.lane_id),
	                         (it.lane_id % 4)::integer);
	gone := exists (select 1 from readpast.job o
	                 where o.queue_id = new_id
	                   and o.unique_key = it.unique_key);
	update readpast.job j
	   set queue_id = new_id,
	       lane_id = lane,
	       seq = case when it.lease_until is null and it.due
	                  then readpast.next_in_line(lane) end,
	       run_at = coalesce(it.lease_until, j.run_at),
	       unique_key = case when not gone then j.unique_key end
	 where j.id = take_over_job.id;
	perform readpast.open_lane(lane);
	if it.expired then
		perform readpast.expire(array[take_over_job.id]);
	end if;
exception when lock_not_available or unique_violation then
	null; -- somebody just puts in a job with its key
end
$body$;

-- Forget what claims, sweeps and workers have noted of a queue that is gone.
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
