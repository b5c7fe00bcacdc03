-- live_counts: count the live jobs of a queue.
-- queue_id: the queue.
-- most: the count of each state stops at this number.
-- Rows: one.
--   scheduled_at_least, ready_at_least, running_at_least, blocked_at_least: true if
--     there are, or may be, more jobs of this state than were counted.
--   blocked: how many jobs wait for their group. If no job of the queue may start now
--     (see is_full()), the ready jobs are counted here, too, and `ready` is 0.
--   oldest: the smallest run_at of the ready jobs that were read.
--   longest: the claim_no of the running job that has been running longest, among the
--     jobs that were read.
-- Locks: none.

create function readpast.live_counts(queue_id integer, most bigint)
returns table (scheduled bigint, ready bigint, running bigint,
               scheduled_at_least boolean, ready_at_least boolean,
               running_at_least boolean, oldest timestamptz, longest bigint,
               blocked bigint, blocked_at_least boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
declare
	is_full boolean := readpast.is_full(queue_id);
	waits   bigint := (select count(*)
	                     from readpast.blocked_in(queue_id, most + 1));
begin
	return query
	select least(c.scheduled, most),
	       case when is_full then 0 else least(c.ready, most) end,
	       least(c.running, most),
	       c.more_scheduled or c.scheduled > most,
	       not is_full and (c.more_ready or c.ready > most),
	       c.more_running or c.running > most, c.oldest, c.longest,
	       least(waits + case when is_full then c.ready else 0 end, most),
	       waits + case when is_full then c.ready else 0 end > most
	       or is_full and c.more_ready
	  from (select sum(p.scheduled)::bigint as scheduled,
	               sum(p.ready)::bigint as ready,
	               sum(coalesce(cardinality(p.ids), 0))::bigint as running,
	               bool_or(p.more_scheduled) as more_scheduled,
	               bool_or(p.more_ready) as more_ready,
	               bool_or(p.more_running) as more_running,
	               min(p.oldest) as oldest,
	               min((select min(n.claim_no)
	                      from unnest(p.claim_nos) as n(claim_no))) as longest
	          from readpast.live_parts(live_counts.queue_id, most) p) c;
end
$body$;
