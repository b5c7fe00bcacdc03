-- Schema 1: the walk, which the sweep takes behind the heads.
--
-- Claims start at a head. Behind it there may be: jobs of transactions that
-- committed late, jobs whose claim was rolled back, and jobs that run. About a
-- second after a head has passed, the walk goes over what it passed, once:
-- what is ready there gets a fresh number at the end of its lane, what runs
-- leaves the line for `job_due`, what it cannot lock or cannot see yet goes on
-- the list `stray`. So nothing is ever walked over again, however many dead
-- entries of the index somebody's old snapshot keeps there.

-- The walk behind the heads, once a second in the whole database, and a seal. Two
-- that walk at once do no harm, but the same work: so who walks has the newest seal
-- locked, and who finds it locked leaves it to that one. A transaction that stays
-- open with it is waited for no longer than three seconds.
create function readpast.sweep_behind()
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	newest record;
	drawn  bigint;
begin
	select s.seq, s.made_at, s.ctid as place into newest
	  from readpast.seal s
	 order by s.seq desc
	 limit 1;
	if newest.made_at between moment - interval '600 milliseconds' and moment then
		return;
	end if;
	-- A transaction that already has an id cannot make a seal, unless sweep_start()
	-- read the line's number first.
	if pg_current_xact_id_if_assigned() is null then
		select s.last_value into drawn from readpast.line s where s.is_called;
	else
		select w.seq, w.at into drawn, moment
		  from (select * from readpast.swept w
		         order by w.at desc
		         limit 1) w
		 where w.xid = pg_current_xact_id_if_assigned();
	end if;
	if drawn > newest.seq then
		perform 1
		   from readpast.seal s
		  where s.ctid = newest.place and s.seq = newest.seq
		    for update skip locked;
		if not found
		   and newest.made_at between moment - interval '3 seconds' and moment
		then
			return;
		end if;
	end if;
	return query select w.id, w.dead from readpast.walk() w;
	if drawn > coalesce(newest.seq, 0) then
		perform readpast.seal(drawn, moment);
	end if;
end
$body$;

-- First the line's number was read, later than `moment`, and now this transaction is
-- given its own: whoever drew a number up to then has a smaller one. (A snapshot's
-- xmax would not do: it is one more than the last that ended, and larger ones may be
-- open.) Seals that no open transaction began before are forgotten.
create function readpast.seal(drawn bigint, moment timestamptz) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	oldest xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
	insert into readpast.seal (seq, next_xid, read_at, made_at)
	values (drawn, pg_current_xact_id(), moment, clock_timestamp());
	delete from readpast.seal s
	 where s.ctid = any (array(
	           select s.ctid from readpast.seal s
	            where s.seq < (select max(o.seq) from readpast.seal o
	                            where o.next_xid <= oldest)
	              for update skip locked));
end
$body$;

-- Walk over what the heads passed since the last time, for 200 ms at the most, and
-- the lanes first that are behind the furthest: so that each has its turn. And
-- no further than a seal that is older than our snapshot: of who has put something
-- there and is still open, the snapshot knows.
create function readpast.walk()
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
	began  timestamptz := clock_timestamp();
	most   interval := '200 milliseconds';
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
		perform 1
		   from readpast.stray s
		  where s.ctid = it.place
		    for update skip locked;
		continue when not found;
		return query
		select * from readpast.look_again(it.lane_id, it.first, it.last);
		delete from readpast.stray s where s.ctid = it.place;
	end loop;

	select max(s.seq) into sealed
	  from readpast.seal s
	 where s.next_xid <= pg_snapshot_xmax(open);
	for lane in
		select l.lane_id, readpast.low_of(l.lane_id) as low
		  from (select distinct l.lane_id from readpast.lane l) l
		 order by low
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
		exit when clock_timestamp() > began + most;
		low := passed;
		for it in select * from readpast.left_between(lane.low, passed) loop
			if clock_timestamp() > began + most then
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
		 where w.ctid = any (array(
		           select w.ctid from readpast.walked w
		            where w.lane_id = lane.lane_id and w.low = lane.low
		              for update skip locked));
		delete from readpast.mark m
		 where m.ctid = any (array(
		           select m.ctid from readpast.mark m
		            where m.lane_id = lane.lane_id and m.head >= lane.low
		              and m.head < low
		              for update skip locked));
		-- Other lanes may be a million behind.
		delete from readpast.ended e
		 where e.ctid = any (array(
		           select e.ctid from readpast.ended e
		            where e.thousand >= lane.low / 1000 - 1000
		              and e.thousand < low / 1000 - 1000
		              for update skip locked));
	end loop;
end
$body$;

-- What there is to walk over between two numbers of the line, in slices: all but
-- the thousands whose jobs are all done.
create function readpast.left_between(first bigint, last bigint)
returns table (low bigint, high bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
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
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	moment  timestamptz := clock_timestamp();
	before  bigint := (select s.last_value from readpast.line s);
	ready   bigint[];
	running bigint[];
	expired bigint[];
begin
	select array_agg(l.id) filter (where l.lease_until is null),
	       array_agg(l.id) filter (where l.lease_until > moment),
	       array_agg(l.id) filter (where l.lease_until <= moment)
	  into ready, running, expired
	  from (select j.id, j.lease_until
	          from readpast.job j
	         where j.id = any (ids) and j.lane_id = clear.lane_id
	           and j.seq >= low and j.seq < high
	         order by j.id
	           for update skip locked) l;
	if ready is not null then
		update readpast.job j
		   set seq = o.new_seq
		  from (select j.id, nextval('readpast.line') as new_seq
		          from readpast.job j
		         where j.id = any (ready)
		         order by j.seq) o
		 where j.id = o.id;
		perform readpast.note_moved(ready, before);
	end if;
	if running is not null then
		update readpast.job j
		   set seq = null, run_at = j.lease_until
		 where j.id = any (running);
	end if;
	if expired is not null then
		return query select * from readpast.expire(expired);
	end if;
	insert into readpast.stray (lane_id, first, last)
	select j.lane_id, j.seq, j.seq
	  from readpast.job j
	 where j.id = any (ids) and j.lane_id = clear.lane_id
	   and j.seq >= low and j.seq < high;
end
$body$;

-- The transactions that are open may have drawn numbers between these two: note
-- to look there once they are over. They draw between the seal before they began
-- and the first that was read a tenth of a second after the next one was made.
create function readpast.wait_for_open(lane_id bigint, low bigint, high bigint,
                                       open pg_snapshot) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.stray (lane_id, first, last, waits_for)
	select wait_for_open.lane_id, greatest(low, d.after + 1),
	       least(high - 1, d.til), d.xid
	  from (select x.xid,
	               coalesce((select max(s.seq) from readpast.seal s
	                          where s.next_xid <= x.xid), 0) as after,
	               coalesce((select s.seq from readpast.seal s
	                          where s.read_at >= (
	                                    select f.made_at
	                                           + interval '100 milliseconds'
	                                      from readpast.seal f
	                                     where f.next_xid > x.xid
	                                     order by f.seq limit 1)
	                          order by s.seq limit 1),
	                        9223372036854775807) as til
	          from pg_snapshot_xip(open) as x(xid)) d
	 where d.after + 1 < high and d.til >= low;
end
$body$;

-- Look at a place behind the head again. What is still locked stays a stray; a
-- claim that was made meanwhile leaves the line, for its lease may run out.
create function readpast.look_again(lane_id bigint, first bigint, last bigint)
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
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
			return query
			select * from readpast.clear(ids, look_again.lane_id, first, head);
		end if;
	end if;
end
$body$;
