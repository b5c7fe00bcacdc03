-- Schema 1: looking at jobs and queues.

-- The columns of a job as every verb that answers jobs gives them, in the order
-- of sql/params, then what the verbs select and sort by.
create view readpast.live as
select j.id, q.name as queue,
       case when j.lease_until is not null then 3
            when j.seq is not null or j.run_at <= clock_timestamp() then 2
            else 1 end as state,
       readpast.priority_of(j.lane_id) as priority, j.attempt,
       j.max_attempts, j.claim_no, w.name as worker, j.run_at, j.created_at,
       case when j.lease_until is not null then readpast.at_us(j.claim_no) end
       as claimed_at,
       j.lease_until, null::timestamptz as finished_at, j.unique_key, j.kind,
       j.headers, j.payload, j.last_error, j.failures,
       octet_length(j.payload) as payload_total,
       j.queue_id, j.lane_id, j.seq
  from readpast.job j
  join readpast.queue q on q.id = j.queue_id
  left join readpast.worker w on w.id = j.worker_id;

create view readpast.kept as
select a.id, q.name as queue, a.state, a.priority, a.attempt, a.max_attempts,
       a.claim_no, a.worker, a.run_at, a.created_at,
       null::timestamptz as claimed_at, null::timestamptz as lease_until,
       a.finished_at, a.unique_key, a.kind, a.headers, a.payload,
       a.last_error, a.failures, octet_length(a.payload) as payload_total,
       a.queue_id
  from readpast.archive a
  join readpast.queue q on q.id = a.queue_id;

-- A payload as people read it: as text, unless it is none.
create function readpast.as_text(payload bytea) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return convert_from(payload, 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
	return payload::text;
end
$body$;

-- For people: all jobs, states as words, payloads as text.
create view readpast.jobs as
select a.id, a.queue, readpast.state_word(a.state) as state, a.priority,
       a.attempt, a.max_attempts, a.claim_no, a.worker, a.run_at,
       a.created_at, a.lease_until, a.finished_at, a.unique_key, a.kind,
       a.headers, readpast.as_text(a.payload) as payload, a.last_error
  from (select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error
          from readpast.live
        union all
        select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error
          from readpast.kept) a;

-- Is there anything to do in a queue, and if not, when? ready: a claim would
-- find something. running: a job is held. due_in_ms, expires_in_ms: until the
-- next job is due, until the next lease runs out (0: already), null if there is
-- none. suspects: one is in line. behind: nobody swept the database for a second.
-- Looks at the first thousand of each lane and of what is to come, no further.
create function readpast.look(queue text)
returns table (ready boolean, running boolean, due_in_ms bigint,
               expires_in_ms bigint, paused boolean, suspects boolean,
               behind boolean)
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
	its    record;
	lane   record;
	found_ready boolean;
	held_until  timestamptz;
	due    timestamptz;
	ends   timestamptz;
	since  timestamptz;
	moment timestamptz := clock_timestamp();
begin
	select q.id, q.paused_at into its
	  from readpast.queue q where q.name = look.queue;
	if not found then
		return;
	end if;
	ready := false;
	suspects := false;
	for lane in
		select distinct l.lane_id
		  from readpast.lane l
		 where l.lane_id between its.id::bigint * 1024
		                     and its.id::bigint * 1024 + 1023
	loop
		found_ready := exists (
			select 1 from readpast.job j
			 where j.lane_id = lane.lane_id
			   and j.seq >= readpast.head_of(lane.lane_id)
			   and j.lease_until is null);
		ready := ready or found_ready;
		suspects := suspects or found_ready and lane.lane_id % 4 = 1;
		select min(e.lease_until) into held_until
		  from (select j.lease_until
		          from readpast.job j
		         where j.lane_id = lane.lane_id
		           and j.seq >= readpast.low_of(lane.lane_id)
		         order by j.lane_id, j.seq
		         limit 1000) e;
		ends := least(ends, held_until);
	end loop;

	since := readpast.due_since(its.id);
	select min(e.run_at) filter (where e.lease_until is null),
	       min(e.lease_until)
	  into due, held_until
	  from (select j.run_at, j.lease_until
	          from readpast.job j
	         where j.queue_id = its.id and j.seq is null
	           and j.run_at >= since
	         order by j.queue_id, j.run_at
	         limit 1000) e;
	ends := least(ends, held_until);

	running := ends is not null;
	-- Null where there is none: greatest() alone would make 0 of that.
	if due is not null then
		due_in_ms := greatest(readpast.to_ms(due - moment), 0);
	end if;
	if ends is not null then
		expires_in_ms := greatest(readpast.to_ms(ends - moment), 0);
	end if;
	behind := readpast.needs_sweep();
	paused := its.paused_at is not null;
	ready := ready and not paused;
	suspects := suspects and not paused;
	return next;
end
$body$;

-- How a live job stands among the others. ahead: ready jobs that claims hand out
-- before it, `most` at the most; workers: those seen lately that serve its queue
-- and its kind, and its queue at all; who holds it. Starts where claims do.
create function readpast.why(job_id bigint, most integer default 1000)
returns table (now timestamptz, paused_at timestamptz, ahead bigint,
               suspect boolean, workers bigint, queue_workers bigint,
               worker_id bigint, host text, pid bigint, silent_ms bigint,
               renewed integer)
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
	its  record;
	lane record;
	n    bigint;
begin
	now := clock_timestamp();
	select j.lane_id, coalesce(j.seq, 9223372036854775807) as seq,
	       q.name || '/' as any_kind, q.name || '/' || j.kind as kind,
	       q.name, q.paused_at, j.worker_id, j.renewed
	  into its
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id
	 where j.id = why.job_id;
	if not found then
		return;
	end if;
	ahead := 0;
	for lane in
		select distinct l.lane_id
		  from readpast.lane l
		 where l.lane_id between its.lane_id / 1024 * 1024 and its.lane_id
	loop
		select count(*) into n
		  from (select 1
		          from readpast.job j
		         where j.lane_id = lane.lane_id
		           and j.seq >= readpast.head_of(lane.lane_id)
		           and j.seq < case when lane.lane_id = its.lane_id
		                            then its.seq
		                            else 9223372036854775807 end
		           and j.lease_until is null
		         order by j.lane_id, j.seq
		         limit most - ahead) a;
		ahead := ahead + n;
	end loop;
	select count(*) filter (where s.kinds ?| array[its.any_kind, its.kind]),
	       count(*)
	  into workers, queue_workers
	  from readpast.worker s
	 where s.stopped_at is null and s.queues ? its.name
	   and s.seen_at > now - interval '30 seconds';
	select w.host, w.pid,
	       greatest(readpast.to_ms(now - w.seen_at), 0)
	  into host, pid, silent_ms
	  from readpast.worker w
	 where w.id = its.worker_id;
	paused_at := its.paused_at;
	suspect := its.lane_id % 4 = 1;
	worker_id := its.worker_id;
	renewed := its.renewed;
	return next;
end
$body$;

-- One queue, or all by name: what it has, how old the oldest is, how much was
-- finished in the last ten seconds, who serves it.
create function readpast.stats(queue text default null)
returns table (name text, paused boolean, scheduled bigint, ready bigint,
               running bigint, done bigint, dead bigint, cancelled bigint,
               oldest_ready_ms bigint, longest_running_ms bigint,
               workers bigint, done_recently bigint, failed_recently bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	moment timestamptz := clock_timestamp();
	this_second bigint := extract(epoch from moment);
begin
	return query
	select q.name, q.paused_at is not null,
	       coalesce(l.scheduled, 0), coalesce(l.ready, 0),
	       coalesce(l.running, 0), coalesce(k.done, 0), coalesce(k.dead, 0),
	       coalesce(k.cancelled, 0),
	       case when l.oldest is not null
	            then greatest(readpast.to_ms(moment - l.oldest), 0) end,
	       case when l.longest is not null
	            then greatest((readpast.epoch_us(moment) - l.longest) / 1000,
	                          0) end,
	       (select count(*) from readpast.worker w
	         where w.stopped_at is null
	           and w.seen_at > moment - interval '30 seconds'
	           and w.queues ? q.name),
	       coalesce(t.done, 0), coalesce(t.failed, 0)
	  from readpast.queue q
	  left join lateral (
	       select count(*) filter (where j.lease_until is null
	                                 and j.seq is null
	                                 and j.run_at > moment) as scheduled,
	              count(*) filter (where j.lease_until is null
	                                 and (j.seq is not null
	                                      or j.run_at <= moment)) as ready,
	              count(j.lease_until) as running,
	              min(j.run_at) filter (where j.lease_until is null
	                                      and j.seq is not null) as oldest,
	              min(j.claim_no) filter (where j.lease_until is not null)
	              as longest
	         from readpast.job j
	        where j.queue_id = q.id) l on true
	  left join lateral (
	       select count(*) filter (where a.state = 4) as done,
	              count(*) filter (where a.state = 5) as dead,
	              count(*) filter (where a.state = 6) as cancelled
	         from readpast.archive a
	        where a.queue_id = q.id) k on true
	  left join lateral (
	       select sum(t.done)::bigint as done, sum(t.failed)::bigint as failed
	         from readpast.tally t
	        where t.queue_id = q.id and t.second > this_second - 10) t
	       on true
	 where q.name = coalesce(stats.queue, q.name)
	 order by q.name;
end
$body$;

-- Everything above is for whoever is granted it.
revoke all on all tables in schema readpast from public;
revoke execute on all functions in schema readpast from public;
