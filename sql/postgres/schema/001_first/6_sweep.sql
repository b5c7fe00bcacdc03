-- Schema 1: the sweep.
--
-- Claims start at a head. Behind it there may be: jobs of transactions that
-- committed late, jobs whose claim was rolled back, and jobs that run. About a
-- second after a head has passed, the sweep walks over what it passed, once:
-- what is ready there gets a fresh number at the end of its lane, what runs
-- leaves the line for `job_due`, what it cannot lock or cannot see yet goes on
-- the list `stray`. So nothing is ever walked over again, however many dead
-- entries of the index somebody's old snapshot keeps there.
--
-- All of it is done by skipping what others have locked, and an idle sweep
-- writes nothing.

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
		                case when q.lease_ms >= 5000
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

-- The walk behind the heads, once a second in the whole database, and a seal.
-- One at a time: the lock is the session's and given back here, so that no
-- transaction that stays open keeps it.
create function readpast.sweep_behind()
returns table (id bigint, dead boolean)
language plpgsql volatile as $body$
declare
	lock   bigint := 'readpast.seal'::regclass::oid::bigint;
	newest record;
	drawn  bigint;
begin
	if not pg_try_advisory_lock(lock) then
		return;
	end if;
	begin
		select s.seq, s.made_at into newest
		  from readpast.seal s
		 order by s.seq desc
		 limit 1;
		if newest is null
		   or newest.made_at < clock_timestamp() - interval '1 second'
		   or newest.made_at > clock_timestamp()
		then
			-- Who has its own number already cannot make a seal.
			select s.last_value into drawn
			  from readpast.line s
			 where s.is_called
			   and pg_current_xact_id_if_assigned() is null;
			return query select w.id, w.dead from readpast.walk() w;
			if drawn > coalesce(newest.seq, 0) then
				perform readpast.seal(drawn);
			end if;
		end if;
	exception when query_canceled or others then
		perform pg_advisory_unlock(lock);
		raise;
	end;
	perform pg_advisory_unlock(lock);
end
$body$;

-- First the line's number was read, and now this transaction is given its own:
-- whoever drew a number up to then has a smaller one. (A snapshot's xmax would not
-- do: it is one more than the last that ended, and larger ones may be open.)
-- Seals that no open transaction began before are forgotten.
create function readpast.seal(drawn bigint) returns void
language plpgsql volatile as $body$
declare
	oldest xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
	insert into readpast.seal (seq, next_xid, made_at)
	values (drawn, pg_current_xact_id(), clock_timestamp());
	delete from readpast.seal s
	 where s.seq < (select max(o.seq) from readpast.seal o
	                 where o.next_xid <= oldest);
end
$body$;

-- Walk over what the heads passed since the last time, for 20 ms at the most; and
-- no further than a seal that is older than our snapshot: of who has put something
-- there and is still open, the snapshot knows.
create function readpast.walk()
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
	began  timestamptz := clock_timestamp();
	open   pg_snapshot := pg_current_snapshot();
	sealed bigint;
	lane   record;
	it     record;
	passed bigint;
	low    bigint;
	ids    bigint[];
begin
	for it in select s.ctid as place, s.* from readpast.stray s loop
		continue when it.waits_for is not null
		              and not pg_visible_in_snapshot(it.waits_for, open);
		perform readpast.look_again(it.lane_id, it.first, it.last);
		delete from readpast.stray s where s.ctid = it.place;
	end loop;

	select max(s.seq) into sealed
	  from readpast.seal s
	 where s.next_xid <= pg_snapshot_xmax(open);
	for lane in
		select l.lane_id, readpast.low_of(l.lane_id) as low
		  from (select distinct l.lane_id from readpast.lane l) l
	loop
		select m.head into passed
		  from readpast.mark m
		 where m.lane_id = lane.lane_id and m.head >= lane.low
		   and m.made_at <= began - interval '1 second'
		 order by m.lane_id desc, m.head desc
		 limit 1;
		passed := least(passed, coalesce(sealed, -1) + 1,
		                lane.low + 10000000);
		continue when not found or passed <= lane.low;
		low := passed;
		for it in select * from readpast.left_between(lane.low, passed) loop
			if clock_timestamp() > began + interval '20 milliseconds' then
				low := it.low;
				exit;
			end if;
			select array_agg(j.id) into ids
			  from readpast.job j
			 where j.lane_id = lane.lane_id and j.seq >= it.low
			   and j.seq < it.high;
			if ids is not null then
				return query select * from readpast.clear(ids, lane.lane_id,
				                                          it.low, it.high);
			end if;
		end loop;
		perform readpast.wait_for_open(lane.lane_id, lane.low, low, open);
		insert into readpast.walked (lane_id, low)
		values (lane.lane_id, low);
		delete from readpast.walked w
		 where w.lane_id = lane.lane_id and w.low = lane.low;
		delete from readpast.mark m
		 where m.lane_id = lane.lane_id and m.head >= lane.low
		   and m.head < low;
		-- Other lanes may be a million behind.
		delete from readpast.ended e
		 where e.thousand >= lane.low / 1000 - 1000
		   and e.thousand < low / 1000 - 1000;
	end loop;
end
$body$;

-- What there is to walk over between two numbers of the line, in slices: all but
-- the thousands whose jobs are all done.
create function readpast.left_between(first bigint, last bigint)
returns table (low bigint, high bigint)
language plpgsql stable
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashagg = off
as $body$
declare
	ended bigint;
begin
	foreach ended in array
		array(select e.thousand * 1000
		        from readpast.ended e
		       where e.thousand >= greatest(first, last - 1000000) / 1000
		         and e.thousand <= last / 1000
		       group by e.thousand
		      having sum(e.jobs) = 1000
		       order by e.thousand) || last
	loop
		while first < ended loop
			low := first;
			high := least(low + 5000, ended);
			return next;
			first := high;
		end loop;
		first := greatest(first, ended + 1000);
	end loop;
end
$body$;

-- Take these jobs out from between two numbers of a lane: what is ready goes
-- to its end, what runs leaves the line. What is locked is a stray.
create function readpast.clear(ids bigint[], lane_id bigint, low bigint,
                               high bigint)
returns table (id bigint, dead boolean)
language plpgsql volatile as $body$
#variable_conflict use_column
declare
	it     record;
	moment timestamptz := clock_timestamp();
begin
	for it in
		select j.id, j.lease_until
		  from readpast.job j
		 where j.id = any (ids) and j.lane_id = clear.lane_id
		   and j.seq >= low and j.seq < high
		 order by j.id
		   for update skip locked
	loop
		if it.lease_until is null then
			update readpast.job j
			   set seq = readpast.next_in_line(j.lane_id)
			 where j.id = it.id;
		elsif it.lease_until <= moment then
			id := it.id;
			dead := readpast.expire(it.id);
			return next;
		else
			update readpast.job j
			   set seq = null, run_at = j.lease_until
			 where j.id = it.id;
		end if;
	end loop;
	insert into readpast.stray (lane_id, first, last)
	select j.lane_id, j.seq, j.seq
	  from readpast.job j
	 where j.id = any (ids) and j.lane_id = clear.lane_id
	   and j.seq >= low and j.seq < high;
end
$body$;

-- The transactions that are open may have drawn numbers between these two: note
-- to look there once they are over. They draw between the seal before they began
-- and the second one after.
create function readpast.wait_for_open(lane_id bigint, low bigint, high bigint,
                                       open pg_snapshot) returns void
language plpgsql volatile as $body$
begin
	insert into readpast.stray (lane_id, first, last, waits_for)
	select wait_for_open.lane_id, greatest(low, d.after + 1),
	       least(high - 1, d.til), d.xid
	  from (select x.xid,
	               coalesce((select max(s.seq) from readpast.seal s
	                          where s.next_xid <= x.xid), 0) as after,
	               coalesce((select s.seq from readpast.seal s
	                          where s.next_xid > x.xid
	                          order by s.seq offset 1 limit 1),
	                        9223372036854775807) as til
	          from pg_snapshot_xip(open) as x(xid)) d
	 where d.after + 1 < high and d.til >= low;
end
$body$;

-- Look at a place behind the head again. What is still locked stays a stray; a
-- claim that was made meanwhile leaves the line, for its lease may run out.
create function readpast.look_again(lane_id bigint, first bigint, last bigint)
returns void
language plpgsql volatile as $body$
#variable_conflict use_column
declare
	head bigint := readpast.newest_head(lane_id);
	ids  bigint[];
begin
	if head > first then
		head := least(head, last + 1);
		select array_agg(j.id) into ids
		  from readpast.job j
		 where j.lane_id = look_again.lane_id and j.seq >= first
		   and j.seq < head;
		if ids is not null then
			perform readpast.clear(ids, lane_id, first, head);
		end if;
	end if;
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
-- behind that died asleep; lanes that are new since the last time.
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
