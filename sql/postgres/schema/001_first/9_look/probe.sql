-- probe: is there anything to do in a queue, and if not, when will there be? The
-- routine reads only the first probe_most() jobs of each lane and the first
-- probe_most() scheduled jobs.
-- queue: the name of the queue.
-- Rows: one, or none if there is no such queue.
--   ready: a claim would find a job, or carry out a recheck request of a group (see
--     probe_limits()). Always false while the queue is paused, or while a limit, a rate
--     or a hold of the queue lets no job start.
--   running: a job is running, or a ready job is before the number where claims start.
--     Claims find such a ready job only after a sweep has moved it.
--   due_in_ms: milliseconds until the next scheduled job is due, or until a waiting job
--     may start because of the rate or the end of a hold, whichever comes first. 0 if
--     that time has passed, null if there is no such job.
--   expires_in_ms: milliseconds until the next lease ends. 0 if that time has passed,
--     null if no job is running.
--   paused: the queue is paused.
--   suspects: a job that may have killed its workers (a suspect) is ready.
--   blocked: jobs wait for the limit or the rate of the queue, or for the limit of
--     their group. Jobs that wait for the end of a hold do not count.
--   behind: no worker has swept the database for a second.
-- Locks: none.

create function readpast.probe(queue text)
returns table (ready boolean, running boolean, due_in_ms bigint,
               expires_in_ms bigint, paused boolean, suspects boolean,
               behind boolean, blocked boolean)
language plpgsql stable
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
	part   record;
	seen   record;
	is_behind  boolean := false;
	held_until timestamptz;
	due    timestamptz;
	ends   timestamptz;
	moment timestamptz := clock_timestamp();
	since  timestamptz := readpast.due_since();
begin
	select q.id, q.paused_at, q.run_limit > 0 or q.group_limit > 0 or q.rate_count > 0
	       or q.held_until is not null or q.holds_until is not null as is_limited
	  into its
	  from readpast.queue q where q.name = probe.queue;
	if not found then
		return;
	end if;
	ready := false;
	suspects := false;
	for part in
		select r.*, readpast.claims_start(r.lane_id) as head
		  from readpast.live_ranges(its.id) r
	loop
		select * into seen from readpast.probe_range(part.lane_id, part.first,
		                                             part.past, part.head);
		ends := least(ends, seen.held_until);
		is_behind := is_behind or seen.is_behind;
		if not part.is_recheck
		   and readpast.count_ready(part.lane_id, part.head, 1) > 0 then
			ready := true;
			suspects := suspects or readpast.class_of(part.lane_id) = 1;
		end if;
	end loop;

	select * into due, held_until from readpast.probe_due(its.id, since);
	ends := least(ends, held_until);

	running := ends is not null or is_behind;
	-- greatest() ignores null. So without `case`, the result would be 0 instead of
	-- null if no job is scheduled.
	due_in_ms := case when due is not null
	             then greatest(readpast.to_ms(due - moment), 0) end;
	expires_in_ms := case when ends is not null
	                 then greatest(readpast.to_ms(ends - moment), 0) end;
	behind := readpast.needs_sweep();
	paused := its.paused_at is not null;
	blocked := false;
	if its.is_limited then
		select p.ready, p.blocked, least(due_in_ms, p.due_in_ms)
		  into ready, blocked, due_in_ms
		  from readpast.probe_limits(its.id, ready) p;
	end if;
	ready := ready and not paused;
	suspects := suspects and not paused;
	return next;
end
$body$;
