-- probe_limits: tell probe() whether the limits of a queue allow another claim.
-- queue_id: the queue.
-- has_ready: true if a claim would find a ready job if the queue had no limits.
-- Result:
--   ready: a claim would find a job, or carry out a recheck request of a group.
--   blocked: jobs wait for a limit or a rate, and not only for the end of a hold. A job
--     waits for the limit of its group if a slot of this group is in use and the group is
--     not held. The first probe_most() groups that wait are examined, and as many slots.
--   due_in_ms: milliseconds until the rate lets a job start or until a hold ends,
--     whichever comes first. Null if no job waits for either.
-- Locks: none.

create function readpast.probe_limits(queue_id integer, has_ready boolean,
	out ready boolean, out blocked boolean, out due_in_ms bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
#variable_conflict use_variable
declare
	moment timestamptz := clock_timestamp();
	its    record;
	ends   timestamptz;
	asked  boolean := readpast.has_requests(queue_id);
	waits  boolean := exists (select 1 from readpast.group_wait w
	                           where w.queue_id = probe_limits.queue_id);
begin
	select q.run_limit > 0 and readpast.slots_held(q.id) >= q.run_limit as is_full,
	       readpast.rate_in_ms(q.id, q.rate_count, q.rate_ms) as rate_in_ms,
	       q.held_until > moment as is_held, q.held_until, q.group_limit
	  into its
	  from readpast.queue q
	 where q.id = probe_limits.queue_id;
	has_ready := has_ready or asked;
	ready := has_ready and its.is_full is not true and its.is_held is not true
	         and coalesce(its.rate_in_ms, 0) = 0;
	ends := case when its.is_held and (has_ready or waits) then its.held_until end;
	if waits then
		ends := least(ends, (select min(h.until) from readpast.group_hold h
		                      where h.queue_id = probe_limits.queue_id));
	end if;
	due_in_ms := least(case when has_ready and its.rate_in_ms > 0
	                        then its.rate_in_ms end,
	                   greatest(readpast.to_ms(ends - moment), 0)
	                   + case when ends is null then null else 0 end);
	blocked := its.is_held is not true
	           and (has_ready and not ready
	                or waits and its.group_limit > 0 and exists (
	                       select 1 from readpast.groups_to_probe(queue_id) g
	                        where exists (
	                                select 1 from readpast.group_slot s
	                                 where s.queue_id = probe_limits.queue_id
	                                   and s.group_key = g.name)
	                          and exists (
	                                select 1 from readpast.group_wait w
	                                 where w.queue_id = probe_limits.queue_id
	                                   and w.group_key = g.name)
	                          and not readpast.is_held(probe_limits.queue_id, g.name)));
end
$body$;
