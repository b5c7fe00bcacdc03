-- probe: is there anything to do in a queue, and if not, when? It reads the first
-- probe_most() jobs of each lane and of those that are scheduled, and no more.
-- queue: its name.
-- Result: a row, or none if there is no such queue. ready: a claim would find
-- something. running: a job is held. due_in_ms: milliseconds until the next job is due;
-- expires_in_ms: until the next lease ends. Either is 0 if that time has passed, and
-- null if there is no such job. paused: the queue is paused. suspects: a suspect is
-- ready. behind: no worker has swept the database for a second.
-- Locks: none.

create function readpast.probe(queue text)
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
	  from readpast.queue q where q.name = probe.queue;
	if not found then
		return;
	end if;
	ready := false;
	suspects := false;
	for lane in
		select distinct unnest(readpast.lanes_of(its.id)) as lane_id
	loop
		found_ready := readpast.count_ready(
		                   lane.lane_id, readpast.claims_start(lane.lane_id),
		                   1) > 0;
		ready := ready or found_ready;
		suspects := suspects or found_ready and readpast.class_of(lane.lane_id) = 1;
		select min(e.lease_until) into held_until
		  from (select j.lease_until
		          from readpast.job j
		         where j.lane_id = lane.lane_id
		           and j.seq >= readpast.low_water(lane.lane_id)
		         order by j.lane_id, j.seq
		         limit readpast.probe_most()) e;
		ends := least(ends, held_until);
	end loop;

	since := readpast.due_since();
	select min(e.run_at) filter (where e.lease_until is null),
	       min(e.lease_until)
	  into due, held_until
	  from (select j.run_at, j.lease_until
	          from readpast.job j
	         where j.queue_id = its.id and j.seq is null
	           and j.run_at >= since
	         order by j.queue_id, j.run_at
	         limit readpast.probe_most()) e;
	ends := least(ends, held_until);

	running := ends is not null;
	-- Null if there is no such job; greatest() alone would return 0.
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
