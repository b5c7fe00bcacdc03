-- fire_together: fire many schedules that are due. A single insert adds the jobs of one
-- queue and priority, unless the jobs have unique keys. The routine fires a schedule
-- only if due_fires() lists exactly one time for it, if its payload is small, and if
-- its queue exists and takes the payload. It skips a schedule whose retry_at is set,
-- because its time zone could not be loaded. The schedules that are not fired stay due.
-- ids: the schedules, which the caller has locked.
-- moment: the present time.
-- Result:
--   schedules: how many schedules fired.
--   jobs: how many jobs were added.
-- Locks: the schedules' rows, and the rows that put() and put_one() lock.

create function readpast.fire_together(ids bigint[], moment timestamptz,
                                       out schedules integer, out jobs integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	these record;   -- schedules of one queue, one priority and one `overlap`
	added bigint[];
	why   text[];
	fired integer;
begin
	schedules := 0;
	jobs := 0;
	for these in
		select f.queue, f.priority, f.overlap, max(octet_length(f.content)) as largest,
		       array_agg(f.id) as ids, array_agg(f.name) as names,
		       array_agg(f.due) as due, array_agg(f.next_at) as next_at,
		       array_agg(f.kind) as kinds, array_agg(f.headers) as headers,
		       array_agg(f.content) as contents
		  from (select s.id, s.name, s.queue, s.priority, s.overlap, s.kind, s.content,
		               p.fires[1] as due, p.next_at,
		               readpast.fire_headers(s, p.fires[1], p.missed)::text as headers
		          from (-- Schedules with the same spec and zone have the same
		                -- times, which are computed once.
		                select d.sets, d.zone, d.missed, d.next_at,
		                       case when d.sets[8] > 0 then d.anchor end as anchor,
		                       array_agg(d.id) as ids
		                  from readpast.schedule d
		                 where d.id = any (fire_together.ids) and d.retry_at is null
		                   and octet_length(d.content) <= readpast.small_payload()
		                 group by 1, 2, 3, 4, 5) g,
		               lateral readpast.due_fires(g.sets, g.zone, g.anchor, g.missed,
		                                          g.next_at, moment) p,
		               readpast.schedule s
		         where cardinality(p.fires) = 1 and s.id = any (g.ids)
		         order by s.queue, s.priority, s.overlap, p.fires[1], s.id) f
		 group by f.queue, f.priority, f.overlap
	loop
		if these.overlap = 0 then
			why := null;
			added := array(select readpast.put(
				these.queue, these.priority, null, null, null, these.kinds,
				these.headers, these.contents, these.largest));
		else
			select array_agg(p.job_id order by n.number),
			       array_agg(p.why order by n.number)
			  into added, why
			  from unnest(these.names, these.kinds, these.headers, these.contents)
			       with ordinality as n(name, kind, headers, content, number),
			       lateral readpast.put_unless_live(
				       these.queue, these.priority, 'cron:' || n.name, n.kind,
				       n.headers::json, n.content) p;
		end if;
		update readpast.schedule u
		   set next_at = f.next_at, last_at = f.due, last_job_id = f.job_id,
		       last_error = f.why
		  from unnest(these.ids, these.next_at, these.due, added, why)
		       as f(id, next_at, due, job_id, why)
		 where u.id = f.id and coalesce(f.job_id::text, f.why) is not null;
		get diagnostics fired = row_count;
		schedules := schedules + fired;
		jobs := jobs + cardinality(array_remove(added, null));
	end loop;
end
$body$;
