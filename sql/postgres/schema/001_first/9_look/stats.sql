-- stats: One queue, or all by name: what it has, how old the oldest is, how
-- much was finished in the last ten seconds, who serves it.

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
