-- Schema 1: the sweep: leases that ran out, what is due, retention. It skips what
-- others have locked, and writes nothing where there is nothing to do.

-- A lease ran out: that ends the attempt. The job is in line again as a suspect,
-- or dead when it was its last. The claim number stays: until somebody claims
-- the job, its late holder's verdict is good. The row is locked.
create function readpast.expire(id bigint, out dead boolean)
language plpgsql volatile as $body$
declare
	old   record;
	lane  bigint;
	error text;
begin
	select j.* into old from readpast.job j where j.id = expire.id;
	error := format('lease ran out, attempt %s of %s', old.attempt,
	                old.max_attempts);
	dead := old.attempt >= old.max_attempts;
	if dead then
		perform readpast.put_away(id, 5, error);
	else
		lane := readpast.with_class(old.lane_id, 1);
		perform readpast.open_lane(lane);
		update readpast.job j
		   set lane_id = lane,
		       seq = readpast.next_in_line(lane),
		       run_at = clock_timestamp(),
		       lease_until = null,
		       renewed = 0,
		       last_error = error,
		       failures = readpast.with_failure(j.failures, j.attempt,
		                                        j.worker_id, error)
		 where j.id = expire.id;
		perform readpast.wake(old.queue_id);
	end if;
end
$body$;

-- Until when everything that is to come in a queue has come.
create function readpast.due_since(queue_id integer) returns timestamptz
language plpgsql stable as $body$
begin
	return coalesce(readpast.at_us(nullif(readpast.head_of(-queue_id), 0)),
	                '-infinity');
end
$body$;

-- What is due comes into line, at the end of its lane; `most` jobs of each
-- queue at the most.
create function readpast.sweep_due(most integer)
returns table (id bigint)
language plpgsql volatile
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	its    record;
	it     record;
	since  timestamptz;
	n      integer;
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	for its in select q.id from readpast.queue q loop
		since := readpast.due_since(its.id);
		-- One by one, in this order. As a join it would be, for a table that
		-- was analyzed when it was empty, one that reads all of it.
		n := 0;
		for it in
			select j.id,
			       case when j.lane_id % 4 = 1 then j.lane_id
			            else readpast.with_class(j.lane_id, 2) end as lane_id
			  from readpast.job j
			 where j.queue_id = its.id and j.seq is null
			   and j.run_at >= since and j.run_at <= moment
			   and j.lease_until is null
			 order by j.queue_id, j.run_at
			 limit most
			   for update skip locked
		loop
			update readpast.job j
			   set lane_id = it.lane_id,
			       seq = readpast.next_in_line(it.lane_id)
			 where j.id = it.id;
			id := it.id;
			return next;
			n := n + 1;
		end loop;
		if n > 0 then
			perform readpast.wake(its.id);
			perform readpast.mark_due(its.id, since);
		end if;
	end loop;
end
$body$;

-- Move the mark of what has come, up to a time that no transaction still open
-- can have put a job before.
create function readpast.mark_due(queue_id integer, since timestamptz)
returns void
language plpgsql volatile as $body$
declare
	til timestamptz;
begin
	select s.made_at - interval '1 second' into til
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
		 where m.lane_id = -queue_id and m.head < readpast.epoch_us(til)
		   and m.head >= coalesce(readpast.epoch_us(nullif(since,
		                                                   '-infinity')), 0);
	end if;
end
$body$;

-- Leases that ran out, `most` of each queue and lane at the most; and the walk
-- behind the heads.
create function readpast.sweep_expired(most integer)
returns table (id bigint, dead boolean)
language plpgsql volatile
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	it     record;
	since  timestamptz;
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	return query select * from readpast.sweep_behind();
	-- Long ones: they are to come, as what is scheduled is.
	for it in select q.id from readpast.queue q loop
		since := readpast.due_since(it.id);
		return query
		select j.id, readpast.expire(j.id)
		  from (select j.id
		          from readpast.job j
		         where j.queue_id = it.id and j.seq is null
		           and j.run_at >= since and j.run_at <= moment
		           and j.lease_until <= moment
		         order by j.queue_id, j.run_at
		         limit most
		           for update skip locked) j;
	end loop;
	-- Young ones: in line, around the head. What is far behind it, the walk takes
	-- out within some seconds; short leases cannot wait for that.
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
		return query
		select j.id, readpast.expire(j.id)
		  from (select j.id
		          from readpast.job j
		         where j.id = any (array(
		                   select e.id
		                     from (select j.id, j.lease_until
		                             from readpast.job j
		                            where j.lane_id = it.lane_id
		                              and j.seq >= it.low
		                            order by j.lane_id, j.seq
		                            limit 1000) e
		                    where e.lease_until <= moment))
		           and j.lease_until <= moment
		           for update skip locked) j;
	end loop;
end
$body$;

-- Kept jobs whose time is over are forgotten; `most` of each queue and state at
-- the most.
create function readpast.sweep_kept(most integer)
returns table (id bigint)
language plpgsql volatile as $body$
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
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	perform readpast.wake(q.id)
	   from readpast.queue q
	  where q.paused_at is null
	    and exists (select 1 from readpast.sleeper s
	                 where s.queue_id = q.id and s.until > moment)
	    and exists (select 1
	                  from readpast.lane l
	                  join readpast.job j on j.lane_id = l.lane_id
	                 where l.lane_id between q.id::bigint * 1024
	                                     and q.id::bigint * 1024 + 1023
	                   and j.seq >= readpast.head_of(l.lane_id)
	                   and j.lease_until is null);
end
$body$;

-- Workers not seen for an hour, tallies older than a minute, what sleepers left
-- behind that died asleep, notes of short leases; lanes that are new since the last time.
create function readpast.sweep_rest() returns void
language plpgsql volatile as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.worker w where w.seen_at < moment - interval '1 hour';
	delete from readpast.tally t
	 where t.second < extract(epoch from moment)::bigint - 60
	   and t.second > extract(epoch from moment)::bigint - 3600;
	delete from readpast.sleeper s
	 using readpast.queue q
	 where s.queue_id = q.id
	   and s.until between moment - interval '10 minutes'
	                   and moment - interval '1 minute';
	delete from readpast.short s where s.until < moment;
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
	perform readpast.rouse();
end
$body$;

-- ---- for people and programs in any language ----

-- The maintenance: leases that ran out end, what is due comes into line,
-- retention. Workers of libreadpast do it all the time; a program that only
-- claims calls it about once a second.
create function readpast.sweep(most integer default 1000,
	out due bigint, out recovered bigint, out dead bigint,
	out dropped bigint)
language plpgsql volatile as $body$
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
end
$body$;
