-- Schema 1: small words that the routines share.
--
-- Those in SQL are short enough for the planner to put their text where they
-- are called; not if they promise more than what they call (arithmetic on a
-- timestamptz is stable, and not immutable). What it cannot, and every longer
-- routine, is in PL/pgSQL, which plans once per session: a routine in SQL is
-- parsed and planned at each call.
--
-- Whoever calls a routine has a search_path of its own, and what stands in front
-- there, or has arguments that fit better, may be anybody's. So each routine sets
-- its own path, which costs 14,000 instructions a call and keeps the planner from
-- putting its text elsewhere; or, where that is too much, its text names the
-- schema of all that it uses. `operator(pg_catalog.*)` binds as loosely as any
-- other. between, in, nullif and is distinct from cannot be named so: they use
-- whatever = or <= the path finds first.
--
-- Errors of ours: RP001 the job is no longer yours, RP002 it was cancelled,
-- RP003 invalid argument, RP004 payload too large, RP005 no such job or queue,
-- RP006 in use by a live job. 25001: not at this isolation level.

create function readpast.queue_of(lane_id bigint) returns integer
language sql immutable
as $body$
select (lane_id operator(pg_catalog./) 1024)::integer
$body$;

create function readpast.priority_of(lane_id bigint) returns integer
language sql immutable
as $body$
select (lane_id operator(pg_catalog./) 4 operator(pg_catalog.%) 256)::integer
$body$;

-- The same queue and priority, another class.
create function readpast.with_class(lane_id bigint, class integer)
returns bigint
language sql immutable
as $body$
select lane_id operator(pg_catalog./) 4 operator(pg_catalog.*) 4
       operator(pg_catalog.+) class
$body$;

create function readpast.ms(n bigint) returns interval
language sql immutable
as $body$
select n operator(pg_catalog.*) interval '1 millisecond'
$body$;

create function readpast.to_ms(i interval) returns bigint
language sql immutable
as $body$
select pg_catalog.round(
           extract(epoch from i) operator(pg_catalog.*) 1000)::bigint
$body$;

-- Milliseconds since 1970, and back.
create function readpast.epoch_ms(t timestamptz) returns bigint
language sql stable
as $body$
select pg_catalog.floor(
           extract(epoch from t) operator(pg_catalog.*) 1000)::bigint
$body$;

create function readpast.epoch_us(t timestamptz) returns bigint
language sql stable
as $body$
select (extract(epoch from t) operator(pg_catalog.*) 1000000)::bigint
$body$;

create function readpast.at_us(n bigint) returns timestamptz
language sql stable
as $body$
select timestamp with time zone '1970-01-01 00:00:00+00' operator(pg_catalog.+)
       (n operator(pg_catalog.*) interval '1 microsecond')
$body$;

create function readpast.at_ms(n bigint) returns timestamptz
language sql stable
as $body$
select timestamp with time zone '1970-01-01 00:00:00+00' operator(pg_catalog.+)
       (n operator(pg_catalog.*) interval '1 millisecond')
$body$;

create function readpast.state_word(state integer) returns text
language sql immutable
as $body$
select (array['scheduled', 'ready', 'running', 'done', 'dead',
              'cancelled'])[state]
$body$;

-- A job's failed attempts, the last ten, with one more.
create function readpast.with_failure(failures jsonb, attempt integer,
                                      worker_id bigint, error text)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return case when jsonb_array_length(failures) >= 10 then failures - 0
	            else coalesce(failures, '[]') end
	       || jsonb_build_array(jsonb_build_object(
	              'attempt', attempt,
	              'at', readpast.epoch_ms(clock_timestamp()),
	              'worker', (select w.name from readpast.worker w
	                          where w.id = worker_id),
	              'text', error));
end
$body$;

-- Is this transaction so young that the numbers of the line that it has drawn need
-- no note in `stray`, and that it may leave marks?
create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) interval '100 milliseconds')
$body$;

-- Numbers were drawn late, from this one on: the sweep sees it when it sees the
-- jobs.
create function readpast.note_late(lane_id bigint, first bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.stray (lane_id, first, last)
	select note_late.lane_id, note_late.first, s.last_value
	  from readpast.line s;
end
$body$;

-- These jobs were given numbers behind `before`, late if this transaction is old.
create function readpast.note_moved(ids bigint[], before bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if not readpast.young() then
		perform readpast.note_late(l.lane_id, before)
		   from (select distinct j.lane_id
		           from readpast.job j
		          where j.id = any (ids)) l;
	end if;
end
$body$;

-- A number at the end of a lane, for a transaction that has its own already.
create function readpast.next_in_line(lane_id bigint) returns bigint
language plpgsql volatile as $body$
declare
	seq bigint := pg_catalog.nextval('readpast.line');
begin
	if not readpast.young() then
		perform readpast.note_late(lane_id, seq);
	end if;
	return seq;
end
$body$;

-- How far the sweep has walked in a lane.
create function readpast.low_of(lane_id bigint) returns bigint
language plpgsql stable as $body$
begin
	return coalesce((select w.low
                   from readpast.walked w
                  where w.lane_id operator(pg_catalog.=) low_of.lane_id
                  order by w.lane_id desc, w.low desc
                  limit 1), 0);
end
$body$;

-- The newest mark of a lane, however young.
create function readpast.newest_head(lane_id bigint) returns bigint
language plpgsql stable as $body$
begin
	return coalesce((select m.head
	                   from readpast.mark m
	                  where m.lane_id
	                        operator(pg_catalog.=) newest_head.lane_id
	                  order by m.lane_id desc, m.head desc
	                  limit 1), 0);
end
$body$;

-- Where the claims of a lane start: at the newest mark that is 50 ms old. Who
-- draws a number commits within that time as a rule, and not behind the head,
-- where only the sweep would find it.
create function readpast.head_of(lane_id bigint) returns bigint
language plpgsql stable as $body$
begin
	return coalesce((select m.head
	                   from readpast.mark m
	                  where m.lane_id operator(pg_catalog.=) head_of.lane_id
	                    and m.made_at operator(pg_catalog.<=)
	                        (pg_catalog.clock_timestamp()
	                         operator(pg_catalog.-) interval '50 milliseconds')
	                  order by m.lane_id desc, m.head desc
	                  limit 1), 0);
end
$body$;

-- Is this no name for a queue, kind, key or worker? Null is none of them. E'...'
-- is the same whatever standard_conforming_strings is.
create function readpast.is_bad_name(name text, most integer) returns boolean
language sql immutable as $body$
select pg_catalog.octet_length(name) operator(pg_catalog.<) 1
       or pg_catalog.octet_length(name) operator(pg_catalog.>) most
       or name operator(pg_catalog.~) E'[\\x01-\\x1f\\x7f]'
$body$;

create function readpast.is_bad_delay(delay interval) returns boolean
language sql immutable as $body$
select delay operator(pg_catalog.<) interval '0'
       or delay operator(pg_catalog.>) interval ':most_days days'
$body$;

create function readpast.is_bad_lease(lease interval) returns boolean
language sql immutable as $body$
select lease operator(pg_catalog.<) interval '1 millisecond'
       or lease operator(pg_catalog.>) interval ':most_days days'
$body$;

-- So short that the sweep must not wait for the walk to find it far behind the head.
create function readpast.is_short(lease_ms bigint) returns boolean
language sql immutable as $body$
select lease_ms operator(pg_catalog.<) 5000
$body$;

-- What leases jobs or looks for what others lease must see what they commit.
create function readpast.need_read_committed(what text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		raise exception '% works at READ COMMITTED only', what
			using errcode = '25001';
	end if;
end
$body$;

-- Say that a lane is used.
create function readpast.open_lane(lane bigint) returns void
language plpgsql volatile as $body$
begin
	insert into readpast.lane (lane_id)
	select lane
	 where not exists (select 1 from readpast.lane l
	                    where l.lane_id operator(pg_catalog.=) lane);
end
$body$;

-- Wake one worker that sleeps and serves the queue, but not this one. It comes off
-- the list, so that the next job wakes another; if that cannot be without waiting
-- for somebody, it is woken all the same. A transaction that notified somebody cannot
-- be prepared: one that is to be says `set local readpast.notify = off`, and the sweep
-- of the next second wakes a worker.
create function readpast.wake(queue_id integer, besides bigint default 0)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment  timestamptz := clock_timestamp();
	sleeper bigint;
begin
	if not exists (select 1 from readpast.sleeper s
	                where s.queue_id = wake.queue_id and s.until > moment)
	   or current_setting('readpast.notify', true) = 'off' then
		return;
	end if;
	if current_setting('transaction_isolation') = 'read committed' then
		delete from readpast.sleeper s
		 where s.ctid = (select s.ctid
		                   from readpast.sleeper s
		                  where s.queue_id = wake.queue_id
		                    and s.until > moment and s.worker_id <> besides
		                  order by s.until desc
		                  limit 1
		                    for update skip locked)
		returning s.worker_id into sleeper;
	end if;
	if sleeper is null then
		select s.worker_id into sleeper
		  from readpast.sleeper s
		 where s.queue_id = wake.queue_id and s.until > moment
		   and s.worker_id <> besides
		 order by s.until desc
		 limit 1;
	end if;
	if sleeper is not null then
		perform pg_notify('readpast.' || sleeper, '');
	end if;
end
$body$;
