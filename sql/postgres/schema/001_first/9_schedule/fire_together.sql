-- fire_together: fire schedules that are due, the jobs of each queue and priority by one
-- insert. It fires a schedule if exactly one of its instants is due, its payload is
-- small, it has no unique key, and its queue exists and takes the payload. It leaves the
-- others as they are.
-- ids: the schedules, which the caller has locked; moment: the time.
-- Result: how many fired. Each got a job.
-- Locks: see put().

create function readpast.fire_together(ids bigint[], moment timestamptz)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	these record;   -- schedules of one queue and one priority
	jobs  bigint[];
	fired integer := 0;
begin
	for these in
		select f.queue, f.priority, max(octet_length(f.content)) as largest,
		       array_agg(f.id) as ids, array_agg(f.due) as due,
		       array_agg(f.next_at) as next_at, array_agg(f.kind) as kinds,
		       array_agg(f.headers) as headers, array_agg(f.content) as contents
		  from (select s.id, s.queue, s.priority, s.kind, s.content,
		               p.fires[1] as due, p.next_at,
		               readpast.fire_headers(s, p.fires[1], p.missed)::text
		               as headers
		          from (-- Schedules with the same spec and zone have the same
		                -- instants: compute them once.
		                select d.sets, d.zone, d.missed, d.next_at,
		                       case when d.sets[8] > 0 then d.anchor end as anchor,
		                       array_agg(d.id) as ids
		                  from readpast.schedule d
		                 where d.id = any (fire_together.ids)
		                   and d.overlap = 0 and d.retry_at is null
		                   and octet_length(d.content) <= readpast.small_payload()
		                 group by 1, 2, 3, 4, 5) g,
		               lateral readpast.due_fires(g.sets, g.zone, g.anchor, g.missed,
		                                          g.next_at, moment) p,
		               readpast.schedule s
		         where cardinality(p.fires) = 1 and s.id = any (g.ids)
		         order by s.queue, s.priority, p.fires[1], s.id) f
		 group by f.queue, f.priority
	loop
		jobs := array(select readpast.put(
			these.queue, these.priority, null, null, null, these.kinds,
			these.headers, these.contents, these.largest));
		update readpast.schedule u
		   set next_at = f.next_at, last_at = f.due, last_job_id = f.job_id,
		       last_error = null
		  from unnest(these.ids, these.next_at, these.due, jobs)
		       as f(id, next_at, due, job_id)
		 where u.id = f.id and f.job_id is not null;
		fired := fired + cardinality(jobs);
	end loop;
	return fired;
end
$body$;
