-- Schema 1: the sweep: leases that ran out, what is due, retention. It skips what
-- others have locked, and writes nothing where there is nothing to do.

-- The leases of these jobs ran out: that ends their attempts. Each is in line
-- again: at the front; as a suspect, if its lease before that ran out, too, or its
-- next attempt is the last. If that was the last one it is dead. The claim number
-- stays: until somebody claims the job, its late holder's verdict is good.
-- The failure says who had the job, and when it was heard of for the last time.
-- The rows are locked by the caller.
create function readpast.expire(ids bigint[])
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	before bigint := (select s.last_value from readpast.line s);
begin
	return query
	with over as materialized (
		select j.id, j.attempt >= j.max_attempts as dead, j.lease_until,
		       readpast.with_class(
		           j.lane_id, case when j.lost > 0
		                             or j.attempt + 1 >= j.max_attempts
		                           then 1 else 0 end) as lane_id,
		       w.name as worker, e.error,
		       case when jsonb_array_length(j.failures) >= 10
		            then j.failures - 0
		            else coalesce(j.failures, '[]') end
		       || jsonb_build_array(jsonb_build_object(
		              'attempt', j.attempt,
		              'at', readpast.epoch_ms(clock_timestamp()),
		              'worker', w.name, 'host', w.host,
		              'seen_at', greatest(readpast.epoch_ms(w.seen_at),
		                                  j.claim_no / 1000),
		              'text', e.error)) as failures
		  from readpast.job j
		  left join readpast.worker w on w.id = j.worker_id,
		       lateral (select format('lease ran out, attempt %s of %s',
		                              j.attempt, j.max_attempts) as error) e
		 where j.id = any (ids)),
	died as (
		delete from readpast.job j
		 using over o
		 where j.id = o.id and o.dead
		returning j.*, o.worker, o.error, o.failures as all_failures),
	kept as (
		insert into readpast.archive
		       (id, queue_id, state, finished_at, priority, run_at, claim_no,
		        attempt, max_attempts, worker, created_at, unique_key, kind,
		        headers, payload, last_error, failures)
		select d.id, d.queue_id, 5, clock_timestamp(),
		       readpast.priority_of(d.lane_id), d.run_at, d.claim_no,
		       d.attempt, d.max_attempts, d.worker, d.created_at,
		       d.unique_key, d.kind, d.headers, d.payload, d.error,
		       d.all_failures
		  from died d),
	back as (
		update readpast.job j
		   set lane_id = o.lane_id,
		       seq = o.seq,
		       run_at = clock_timestamp(),
		       lease_until = null,
		       renewed = 0,
		       lost = j.lost + 1,
		       last_error = o.error,
		       failures = o.failures
		  from (select o.*, nextval('readpast.line') as seq
		          from over o
		         where not o.dead
		         order by o.lease_until, o.id) o
		 where j.id = o.id)
	select o.id, o.dead from over o;

	perform readpast.note_moved(ids, before);
	perform readpast.open_lane(l.lane_id), readpast.wake(l.queue_id)
	   from (select distinct j.lane_id, j.queue_id
	           from readpast.job j
	          where j.id = any (ids)) l;
end
$body$;

-- Until when everything that is to come in a queue has come.
create function readpast.due_since(queue_id integer) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return coalesce(readpast.at_us(nullif(readpast.head_of(-queue_id), 0)),
	                '-infinity');
end
$body$;

-- Jobs that are due come into line, at the end of their lane; up to `most` of them.
create function readpast.sweep_due(most integer)
returns table (id bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	its    record;
	ids    bigint[];
	before bigint;
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	for its in select q.id, readpast.due_since(q.id) as since
	             from readpast.queue q loop
		exit when most <= 0;
		ids := array(
			select j.id
			  from readpast.job j
			 where j.queue_id = its.id and j.seq is null
			   and j.run_at >= its.since and j.run_at <= moment
			   and j.lease_until is null
			 order by j.queue_id, j.run_at
			 limit most
			   for update skip locked);
		continue when ids = '{}';
		before := (select s.last_value from readpast.line s);
		return query
		update readpast.job j
		   set lane_id = o.lane_id,
		       seq = o.seq
		  from (select j.id,
		               case when j.lane_id % 4 = 1 then j.lane_id
		                    else readpast.with_class(j.lane_id, 2) end
		               as lane_id,
		               nextval('readpast.line') as seq
		          from readpast.job j
		         where j.id = any (ids)
		         order by j.run_at, j.id) o
		 where j.id = o.id
		returning j.id;
		perform readpast.note_moved(ids, before);
		perform readpast.wake(its.id);
		perform readpast.mark_due(its.id, its.since);
		most := most - cardinality(ids);
	end loop;
end
$body$;

-- Move the mark of what has come, up to a time that no transaction still open
-- can have put a job before.
create function readpast.mark_due(queue_id integer, since timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	til timestamptz;
begin
	select s.read_at - interval '1 second' into til
	  from readpast.seal s
	 where s.next_xid <= pg_snapshot_xmin(pg_current_snapshot())
	 order by s.seq desc
	 limit 1;
	if til > since and not exists (
		select 1 from readpast.job j
		 where j.queue_id = mark_due.queue_id and j.seq is null
		   and j.run_at >= since and j.run_at < til)
	then
		insert into readpast.mark (lane_id, head, made_at)
		values (-queue_id, readpast.epoch_us(til), clock_timestamp());
		delete from readpast.mark m
		 where m.ctid = any (array(
		           select m.ctid from readpast.mark m
		            where m.lane_id = -queue_id and m.head < readpast.epoch_us(til)
		              and m.head >= coalesce(readpast.epoch_us(
		                                         nullif(since, '-infinity')), 0)
		              for update skip locked));
	end if;
end
$body$;

-- Leases that ran out, of `most` jobs at the most; and the walk behind the heads.
create function readpast.sweep_expired(most integer)
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	it     record;
	found  record;
	ids    bigint[];
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	return query select * from readpast.sweep_behind();
	-- Long ones: they are to come, as what is scheduled is.
	for it in select q.id, readpast.due_since(q.id) as since
	            from readpast.queue q loop
		ids := array(
			select j.id
			  from readpast.job j
			 where j.queue_id = it.id and j.seq is null
			   and j.run_at >= it.since and j.run_at <= moment
			   and j.lease_until <= moment
			 order by j.queue_id, j.run_at
			 limit most
			   for update skip locked);
		continue when ids = '{}';
		return query select * from readpast.expire(ids);
		most := most - cardinality(ids);
	end loop;
	-- Young ones: in line, around the head. What is far behind it, the walk takes
	-- out within some seconds; short leases cannot wait for that. On from a
	-- thousand to the next while any of them ran out.
	for it in
		select l.lane_id,
		       greatest(readpast.low_of(l.lane_id),
		                case when not readpast.is_short(q.lease_ms)
		                          and not exists (
		                              select 1 from readpast.short s
		                               where s.queue_id = q.id
		                                 and s.until > moment)
		                     then readpast.newest_head(l.lane_id) - 1000
		                end) as low
		  from (select distinct l.lane_id from readpast.lane l) l
		  join readpast.queue q on q.id = readpast.queue_of(l.lane_id)
	loop
		while most > 0 loop
			select array_agg(e.id) filter (where e.lease_until <= moment)
			       as ids,
			       max(e.seq) + 1 as low
			  into found
			  from (select j.id, j.seq, j.lease_until
			          from readpast.job j
			         where j.lane_id = it.lane_id and j.seq >= it.low
			         order by j.lane_id, j.seq
			         limit least(1000, most)) e;
			exit when found.ids is null;
			ids := array(
				select j.id
				  from readpast.job j
				 where j.id = any (found.ids) and j.lease_until <= moment
				   for update skip locked);
			return query select * from readpast.expire(ids);
			most := most - cardinality(ids);
			it.low := found.low;
		end loop;
	end loop;
end
$body$;

-- Kept jobs whose time is over are forgotten; `most` of each queue and state at
-- the most.
create function readpast.sweep_kept(most integer)
returns table (id bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	return query
	delete from readpast.archive a
	 where a.id = any (array(
	           select o.id
	             from readpast.queue q,
	                  (values (4), (5), (6)) as s(state),
	                  lateral (select a.id
	                             from readpast.archive a
	                            where a.queue_id = q.id and a.state = s.state
	                              and a.finished_at
	                                  <= clock_timestamp() - readpast.ms(
	                                         case when s.state = 4
	                                              then q.keep_done_ms
	                                              else q.keep_dead_ms end)
	                            order by a.finished_at
	                            limit most
	                              for update skip locked) o))
	returning a.id;
end
$body$;

-- Where jobs are ready and workers sleep all the same, wake one: the job's
-- transaction began before they lay down, or who was woken for it is dead.
create function readpast.rouse() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $body$
declare
	it     record;
	moment timestamptz := clock_timestamp();
begin
	-- One look after the other: as a join the jobs may come first, all of them.
	for it in
		select distinct q.id, l.lane_id
		  from readpast.sleeper s
		  join readpast.queue q on q.id = s.queue_id
		  join readpast.lane l
		    on l.lane_id between q.id::bigint * 1024
		                     and q.id::bigint * 1024 + 1023
		 where s.until > moment and q.paused_at is null
	loop
		if exists (select 1
		             from readpast.job j
		            where j.lane_id = it.lane_id
		              and j.seq >= readpast.head_of(it.lane_id)
		              and j.lease_until is null)
		then
			perform readpast.wake(it.id);
		end if;
	end loop;
end
$body$;

-- Workers not seen for an hour, tallies older than a minute, what sleepers left
-- behind that died asleep, notes of short leases; lanes that are new since the last time.
create function readpast.sweep_rest() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.worker w
	 where w.ctid = any (array(
	           select w.ctid from readpast.worker w
	            where w.seen_at < moment - interval '1 hour'
	              for update skip locked));
	delete from readpast.tally t
	 where t.ctid = any (array(
	           select t.ctid from readpast.tally t
	            where t.second < extract(epoch from moment)::bigint - 60
	              and t.second > extract(epoch from moment)::bigint - 3600
	              for update skip locked));
	delete from readpast.sleeper s
	 where s.ctid = any (array(
	           select s.ctid from readpast.queue q
	             join readpast.sleeper s on s.queue_id = q.id
	            where s.until between moment - interval '10 minutes'
	                              and moment - interval '1 minute'
	              for update of s skip locked));
	delete from readpast.short s
	 where s.ctid = any (array(
	           select s.ctid from readpast.short s
	            where s.until < moment
	              for update skip locked));
	-- Whoever changed it, a queue's own priority has its lane.
	perform readpast.open_own_lane(q.name)
	   from readpast.queue q
	  where get_bit(q.opened, q.priority) = 0;
	update readpast.queue q
	   set opened = t.priorities
	  from (select q.id, n.priorities
	          from (select readpast.queue_of(l.lane_id) as id,
	                       bit_or('1'::bit(256)
	                              >> readpast.priority_of(l.lane_id))
	                       as priorities
	                  from readpast.lane l
	                 where l.lane_id % 4 = 2
	                 group by 1) n
	          join readpast.queue q on q.id = n.id
	         where q.opened <> n.priorities
	           for no key update of q skip locked) t
	 where q.id = t.id;
	perform readpast.sweep_dropped();
	perform readpast.rouse();
end
$body$;

-- Did no worker begin a sweep lately? They look once a second, each at a time of its
-- own: so when one ends, another sweeps less than two seconds after its last sweep.
-- Nobody sweeps a standby.
create function readpast.needs_sweep() returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	if pg_is_in_recovery() then
		return false;
	end if;
	return not exists (
		select 1
		  from (select s.at from readpast.swept s
		         order by s.at desc
		         limit 1) s
		 where s.at between moment - interval '700 milliseconds' and moment);
end
$body$;

-- Is it this transaction that makes the next sweep? One does, of all workers of all
-- queues, and notes it. While it is at work the newest note is locked, and others
-- leave it to that one; not for longer than three seconds. With in_turn false the
-- answer is always true.
create function readpast.sweep_start(in_turn boolean default true)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	newest timestamptz := (select s.at from readpast.swept s
	                        order by s.at desc
	                        limit 1);
	drawn  bigint := (select s.last_value from readpast.line s
	                   where s.is_called
	                     and pg_current_xact_id_if_assigned() is null);
	drops  integer[] := readpast.drops_to_note();
	mine   boolean;
begin
	if in_turn and not readpast.needs_sweep() then
		return false;
	end if;
	with gone as (
		delete from readpast.swept s
		 where s.ctid = any (array(
		           select s.ctid from readpast.swept s
		            where s.at between newest - interval '1 minute' and newest
		              for update skip locked))
		returning s.at)
	select bool_or(g.at = newest) into mine from gone g;
	if in_turn and mine is not true
	   and newest between moment - interval '3 seconds' and moment then
		return false;
	end if;
	insert into readpast.swept (at, seq, xid)
	values (moment, drawn, pg_current_xact_id());
	perform readpast.note_drops(drops);
	return true;
end
$body$;

-- ---- for people and programs in any language ----

-- The maintenance: leases that ran out end, what is due comes into line,
-- retention. Workers of libreadpast do it all the time; a program that only
-- claims calls it about once a second.
create function readpast.sweep(most integer default 20000,
	out due bigint, out recovered bigint, out dead bigint,
	out dropped bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	drops integer[] := readpast.drops_to_note();
begin
	if most is null or most < 1 then
		raise exception 'a sweep of less than one job' using errcode = 'RP003';
	end if;
	select count(*) filter (where not e.dead), count(*) filter (where e.dead)
	  into recovered, dead
	  from readpast.sweep_expired(most) e;
	select count(*) into due from readpast.sweep_due(most);
	select count(*) into dropped from readpast.sweep_kept(most);
	perform readpast.sweep_rest();
	perform readpast.note_drops(drops);
end
$body$;
