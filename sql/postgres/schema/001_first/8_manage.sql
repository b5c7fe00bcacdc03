-- Schema 1: what people do to queues and jobs; workers that come, sleep and go.

create function readpast.queue_create(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if queue is null or readpast.is_bad_name(queue, :most_name) then
		raise exception 'the queue''s name is not 1..:most_name bytes without control '
			'characters' using errcode = 'RP003';
	end if;
	insert into readpast.queue (name)
	select queue_create.queue
	 where not exists (select 1 from readpast.queue q
	                    where q.name = queue_create.queue)
	    on conflict do nothing;
	perform readpast.open_own_lane(queue);
end
$body$;

create function readpast.open_own_lane(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.open_lane(q.lane_id)
	   from readpast.queue q
	  where q.name = queue;
end
$body$;

-- Create the queue if it is not there, and change the settings that are named.
create function readpast.queue_set(
	queue text, max_attempts integer default null,
	lease interval default null, backoff interval default null,
	backoff_max interval default null, priority integer default null,
	keep_done interval default null, keep_dead interval default null,
	max_payload bigint default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if max_attempts not between 1 and :most_attempts then
		raise exception 'max_attempts is not within 1..:most_attempts'
			using errcode = 'RP003';
	elsif readpast.is_bad_lease(lease) then
		raise exception 'the lease is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	elsif readpast.is_bad_delay(backoff) or readpast.is_bad_delay(backoff_max)
	      or readpast.is_bad_delay(keep_done)
	      or readpast.is_bad_delay(keep_dead) then
		raise exception 'backoff, backoff_max, keep_done and keep_dead are '
			'within 0..:most_days days' using errcode = 'RP003';
	elsif priority not between 0 and :most_priority then
		raise exception 'priority % is not within 0..:most_priority', priority
			using errcode = 'RP003';
	elsif max_payload not between 0 and :most_payload then
		raise exception 'max_payload is not within 0..:most_payload bytes'
			using errcode = 'RP003';
	end if;
	perform readpast.queue_create(queue);
	update readpast.queue q
	   set max_attempts   = coalesce(queue_set.max_attempts, q.max_attempts),
	       lease_ms       = coalesce(readpast.to_ms(lease), q.lease_ms),
	       backoff_ms     = coalesce(readpast.to_ms(backoff), q.backoff_ms),
	       backoff_max_ms = coalesce(readpast.to_ms(backoff_max),
	                                 q.backoff_max_ms),
	       priority       = coalesce(queue_set.priority, q.priority),
	       keep_done_ms   = coalesce(readpast.to_ms(keep_done),
	                                 q.keep_done_ms),
	       keep_dead_ms   = coalesce(readpast.to_ms(keep_dead),
	                                 q.keep_dead_ms),
	       max_payload    = coalesce(queue_set.max_payload, q.max_payload)
	 where q.name = queue_set.queue;
	perform readpast.open_own_lane(queue);
end
$body$;

-- A paused queue takes jobs and hands none out; when it was paused first stays.
-- Answers the queue's id, or nothing.
create function readpast.queue_pause(queue text, paused boolean)
returns setof integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return query
	update readpast.queue q
	   set paused_at = case when queue_pause.paused
	                        then coalesce(q.paused_at, clock_timestamp()) end
	 where q.name = queue_pause.queue
	returning q.id;
	if not paused then
		perform readpast.wake(q.id)
		   from readpast.queue q where q.name = queue_pause.queue;
	end if;
end
$body$;

create function readpast.pause(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.queue_pause(queue, true);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;

create function readpast.resume(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.queue_pause(queue, false);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;

-- Does a job run, or has somebody locked one, or the queue? (Who enqueues at a level
-- above READ COMMITTED has.)
create function readpast.is_worked_on(queue_id integer) returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform 1
	   from readpast.queue q
	  where q.id = is_worked_on.queue_id
	    for update nowait;
	perform 1
	   from readpast.job j
	  where j.queue_id = is_worked_on.queue_id
	    for update nowait;
	perform 1
	   from readpast.archive a
	  where a.queue_id = is_worked_on.queue_id
	    for update nowait;
	return exists (select 1 from readpast.job j
	                where j.queue_id = is_worked_on.queue_id
	                  and j.lease_until is not null);
exception when lock_not_available then
	return true;
end
$body$;

-- Remove the queue and whatever it still has. busy: a job runs, or a transaction
-- that is open is at work on one, and nothing was done. What transactions that are
-- open have just put in stays, and is taken into a new queue (take_over()).
create function readpast.queue_drop(queue text)
returns table (id integer, busy boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	select q.id into id
	  from readpast.queue q where q.name = queue_drop.queue;
	if not found then
		return;
	end if;
	busy := readpast.is_worked_on(id);
	if not busy then
		-- One that came since may have been claimed since.
		delete from readpast.job j
		 where j.queue_id = queue_drop.id and j.lease_until is null;
		delete from readpast.archive a where a.queue_id = queue_drop.id;
		perform readpast.forget_hints(id);
		insert into readpast.dropped (queue_id, name) values (id, queue);
		delete from readpast.queue q where q.id = queue_drop.id;
	end if;
	return next;
end
$body$;

create function readpast.drop_queue(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	dropped record;
begin
	select * into dropped from readpast.queue_drop(queue);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	elsif dropped.busy then
		raise exception 'queue % is in use: let its running jobs end, or cancel '
			'them, and let transactions end that are at work on its jobs', queue
			using errcode = 'RP006';
	end if;
end
$body$;

-- A live job, of this kind if it is not null, goes to the archive at once. Its
-- key is free; a holder learns it at its next extend or verdict.
create function readpast.cancel_live(id bigint, kind text)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return query
	select j.id
	  from readpast.job j
	 where j.id = cancel_live.id
	   and (cancel_live.kind is null or j.kind = cancel_live.kind)
	   for update;
	if found then
		perform readpast.put_away(id, 6, null);
	end if;
end
$body$;

-- A dead or cancelled job is ready again: same id, no attempts used, the claim
-- number grown. taken: a live job has its key now; nothing was done.
create function readpast.retry_kept(job_id bigint, kind text)
returns table (id bigint, taken boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	a    record;
	lane bigint;
begin
	select a.* into a
	  from readpast.archive a
	 where a.id = retry_kept.job_id and a.state in (5, 6)
	   and (retry_kept.kind is null or a.kind = retry_kept.kind)
	   for update;
	if not found then
		return;
	end if;
	perform pg_current_xact_id();
	lane := readpast.lane_of(a.queue_id, a.priority, 2);
	insert into readpast.job
	       (id, lane_id, seq, run_at, created_at, queue_id, max_attempts,
	        claim_no, unique_key, kind, headers, last_error, failures, payload)
	values (a.id, lane, readpast.next_in_line(lane), clock_timestamp(),
	        a.created_at, a.queue_id, a.max_attempts, a.claim_no + 1,
	        a.unique_key, a.kind, a.headers, a.last_error, a.failures,
	        a.payload)
	    on conflict (queue_id, unique_key) where unique_key is not null
	    do nothing;
	taken := not found;
	id := a.id;
	if not taken then
		delete from readpast.archive k where k.id = a.id;
		perform readpast.open_lane(lane);
		perform readpast.wake(a.queue_id);
	end if;
	return next;
end
$body$;

-- Why a job could not be cancelled or retried.
create function readpast.refuse(id bigint, kind text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	select j.state, j.kind into it from readpast.jobs j where j.id = refuse.id;
	if not found then
		raise exception 'no job has the id %', id using errcode = 'RP005';
	elsif kind is not null then
		raise exception 'job % is %, of kind %', id, it.state,
			coalesce(it.kind, '(none)') using errcode = 'RP005';
	end if;
	raise exception 'job % is %', id, it.state using errcode = 'RP001';
end
$body$;

create function readpast.cancel(id bigint, kind text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.cancel_live(id, kind);
	if not found then
		perform readpast.refuse(id, kind);
	end if;
end
$body$;

create function readpast.retry(id bigint, kind text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	select r.taken into it from readpast.retry_kept(id, kind) r;
	if not found then
		perform readpast.refuse(id, kind);
	elsif it.taken then
		raise exception 'job % stays: a live job has its unique key', id
			using errcode = 'RP006';
	end if;
end
$body$;

-- ---- workers ----

-- What a worker holds of some queues, if it claimed that lately: a claim whose
-- answer was lost is known to nobody else.
create function readpast.held_by(worker_id bigint, queues text[])
returns table (id bigint, claim_no bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
#variable_conflict use_column
declare
	lane record;
begin
	for lane in
		select distinct l.lane_id
		  from readpast.queue q
		  join readpast.lane l
		    on l.lane_id between q.id::bigint * 1024
		                     and q.id::bigint * 1024 + 1023
		 where q.name = any (queues)
	loop
		return query
		select h.id, h.claim_no
		  from (select j.id, j.claim_no, j.worker_id, j.lease_until
		          from readpast.job j
		         where j.lane_id = lane.lane_id
		           and j.seq >= readpast.low_of(lane.lane_id)
		         order by j.lane_id, j.seq
		         limit 100000) h
		 where h.lease_until is not null and h.worker_id = held_by.worker_id;
	end loop;
end
$body$;

-- A worker that found nothing says that it sleeps, commits, looks once more if that
-- was news (`fresh`), and listens on the channel: the next job in one of its
-- queues wakes it, and takes it off the list. It says so seconds ahead, and
-- again only when half of that is over.
-- rest: so long it may sleep until it asks sweep_start() whether the database
-- needs a sweep. All that sleep ask some 20 times a second together, and each of
-- them every 12 s at least: whichever worker ends, another sweeps a second later.
create function readpast.going_to_sleep(
	worker_id bigint, queues text[], most interval default '30 seconds',
	out channel text, out until timestamptz, out fresh boolean,
	out rest interval)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	if worker_id is null or queues is null or most is null
	   or most not between interval '1 second' and interval '1 hour' then
		raise exception 'who sleeps says its worker_id, its queues, and for '
			'1 second..1 hour' using errcode = 'RP003';
	end if;
	channel := 'readpast.' || worker_id;
	select greatest(interval '700 milliseconds',
	                least(count(distinct s.worker_id) + 1, 200)
	                * interval '50 milliseconds' * (0.75 + random() / 2))
	  into rest
	  from (select s.worker_id from readpast.sleeper s
	         where s.until > moment
	         limit 1000) s;
	select min(least(coalesce(s.until, '-infinity'), q.asleep_until))
	  into until
	  from readpast.queue q
	  left join readpast.sleeper s
	    on s.queue_id = q.id and s.until > moment
	   and s.worker_id = going_to_sleep.worker_id
	 where q.name = any (queues);
	fresh := until is null or until <= moment + most / 2;
	if not fresh then
		return;
	end if;
	perform readpast.awake(worker_id, queues);
	until := moment + most;
	insert into readpast.sleeper (queue_id, until, worker_id)
	select q.id, going_to_sleep.until, going_to_sleep.worker_id
	  from readpast.queue q
	 where q.name = any (queues);
	update readpast.queue q
	   set asleep_until = going_to_sleep.until + interval '1 minute'
	 where q.ctid = any (array(
	           select q.ctid
	             from readpast.queue q
	            where q.name = any (queues)
	              and q.asleep_until < going_to_sleep.until
	              for no key update skip locked));
end
$body$;

-- It is awake: nobody needs to wake it. Who is just doing so is not waited for.
create function readpast.awake(worker_id bigint, queues text[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.sleeper s
	 where s.ctid = any (array(
	           select s.ctid
	             from readpast.queue q
	             join readpast.sleeper s
	               on s.queue_id = q.id and s.until > moment
	            where q.name = any (queues) and s.worker_id = awake.worker_id
	              for update of s skip locked));
end
$body$;
