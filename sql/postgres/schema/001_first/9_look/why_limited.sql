-- why_limited: tell what a live job has to wait for because of the limits of its queue
-- and its group, for why().
-- job_id: the job.
-- most: the counts group_ahead and group_waiting stop at this number.
-- Result:
--   run_limit, running: how many jobs of its queue may run at once (0: any number), and
--     how many run. `running` is 0 if there is no limit.
--   held_until, group_held_until: the ends of the holds of its queue and its group.
--     Null: not held.
--   group_limit: how many jobs of its group may run at once. 0: any number.
--   group_busy: how many jobs have a slot (the right to run) of its group.
--   group_ahead: how many jobs of its group wait before it.
--   group_waiting: how many jobs of its group wait.
--   group_next: if the job waits for the limit of its group, a JSON object about a job
--     that has a slot, if possible a running job. Members: id, state, since
--     (milliseconds since 1970), worker, host.
--   rate_count, rate_ms: the rate of its queue. A rate_count of 0: none.
--   rate_in_ms: milliseconds until the rate lets a job start.
-- Locks: none.

create function readpast.why_limited(job_id bigint, most integer,
	out run_limit integer, out running bigint,
	out held_until timestamptz, out group_held_until timestamptz,
	out group_limit integer, out group_busy bigint, out group_ahead bigint,
	out group_waiting bigint, out group_next text, out rate_count integer, out rate_ms bigint,
	out rate_in_ms bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	its record;
begin
	select j.queue_id, j.group_key, readpast.priority_of(j.lane_id) as place,
	       j.came, j.seq is null and j.run_at = 'infinity' as waits, q.*
	  into its
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id
	 where j.id = job_id;
	run_limit := its.run_limit;
	running := case when run_limit > 0 then readpast.slots_held(its.queue_id) else 0 end;
	held_until := case when its.held_until > clock_timestamp() then its.held_until end;
	group_held_until := (select h.until from readpast.group_hold h
	                      where h.queue_id = its.queue_id
	                        and h.group_key = its.group_key
	                        and h.until > clock_timestamp());
	rate_count := its.rate_count;
	rate_ms := its.rate_ms;
	rate_in_ms := readpast.rate_in_ms(its.queue_id, rate_count, rate_ms);
	group_limit := case when its.group_key is null then 0 else its.group_limit end;
	group_ahead := (select count(*)
	                  from (select 1 from readpast.group_wait g
	                         where its.waits
	                           and g.queue_id = its.queue_id
	                           and g.group_key = its.group_key
	                           and (g.priority, g.came) < (its.place, its.came)
	                         limit most) a);
	group_waiting := (select count(*)
	                    from (select 1 from readpast.group_wait g
	                           where g.queue_id = its.queue_id
	                             and g.group_key = its.group_key
	                           limit most) a);
	select b.busy, case when its.waits and its.group_limit > 0 then b.next end
	  into group_busy, group_next
	  from readpast.group_users(its.queue_id, its.group_key) b;
end
$body$;
