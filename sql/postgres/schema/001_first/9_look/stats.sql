-- stats: show, for one queue or for each queue, the number of jobs in each state, the
-- age of the oldest ready job, how many jobs ended in the last ten seconds, how many
-- workers serve the queue, and how many jobs were done, attempts failed and jobs died
-- since the queue was made. Live jobs are counted up to 10,000 of each state. Counts of
-- kept jobs are exact.
-- queue: the name of the queue. Null: all queues.
-- Rows: one for each queue, by name. ready_at_least is true if there are, or may be,
-- more ready jobs than the column `ready` counts. scheduled_at_least, running_at_least
-- and blocked_at_least say the same about the other states. held_until is null if the
-- queue is not held.
-- Locks: none.

create function readpast.stats(queue text default null)
returns table (name text, paused boolean, pause_reason text,
               scheduled bigint, ready bigint, running bigint, done bigint, dead bigint, cancelled bigint,
               oldest_ready_ms bigint, longest_running_ms bigint,
               workers bigint, done_recently bigint, failed_recently bigint,
               scheduled_at_least boolean, ready_at_least boolean,
               running_at_least boolean, blocked bigint,
               blocked_at_least boolean, held_until timestamptz,
               done_total bigint, failed_total bigint, dead_total bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
as $body$
#variable_conflict use_column
declare
	moment timestamptz := clock_timestamp();
	this_second bigint := extract(epoch from moment);
begin
	return query
	select q.name, q.paused_at is not null, q.pause_reason, l.scheduled,
	       l.ready, l.running,
	       coalesce(k.done, 0), coalesce(k.dead, 0), coalesce(k.cancelled, 0),
	       case when l.oldest is not null
	            then greatest(readpast.to_ms(moment - l.oldest), 0) end,
	       case when l.longest is not null
	            then greatest((readpast.epoch_us(moment) - l.longest) / 1000,
	                          0) end,
	       coalesce(w.workers, 0),
	       coalesce(t.done, 0), coalesce(t.failed, 0),
	       l.scheduled_at_least, l.ready_at_least, l.running_at_least, l.blocked,
	       l.blocked_at_least, case when q.held_until > moment then q.held_until end,
	       coalesce(t.done_total, 0), coalesce(t.failed_total, 0),
	       coalesce(t.dead_total, 0)
	  from readpast.queue q
	 cross join lateral readpast.live_counts(q.id, :most_counted) l
	  left join lateral (
	       select sum(k.change) filter (where k.state in (4, 14))::bigint as done,
	              sum(k.change) filter (where k.state = 5)::bigint as dead,
	              sum(k.change) filter (where k.state = 6)::bigint as cancelled
	         from readpast.kept_count k
	        where k.queue_id = q.id) k on true
	  left join (
	       select t.queue_id,
	              sum(t.done) filter (where t.second > this_second - 10)::bigint as done,
	              sum(t.failed) filter (where t.second > this_second - 10)::bigint
	              as failed,
	              sum(t.done)::bigint as done_total,
	              sum(t.failed)::bigint as failed_total,
	              sum(t.dead)::bigint as dead_total
	         from readpast.tally t
	        group by t.queue_id) t on t.queue_id = q.id
	  left join (
	       select e.queue, count(distinct w.id) as workers
	         from readpast.worker w
	        cross join jsonb_array_elements_text(
	              case when stats.queue is null then w.queues
	                   else jsonb_build_array(stats.queue) end) e(queue)
	        where w.stopped_at is null
	          and w.seen_at > moment - readpast.seen_age()
	          and (stats.queue is null or w.queues ? stats.queue)
	        group by e.queue) w on w.queue = q.name
	 where q.name = coalesce(stats.queue, q.name)
	 order by q.name;
end
$body$;
