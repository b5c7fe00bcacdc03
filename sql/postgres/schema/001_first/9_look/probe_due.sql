-- probe_due: read what probe() needs from the jobs of a queue that are not in the ready
-- line. The routine reads only the first probe_most() of them.
-- queue_id: the queue.
-- since: the result of due_since().
-- Result:
--   due: when the next scheduled job is due. Null if no job is scheduled.
--   held_until: when the next lease of these jobs ends. Null if none of them runs.
-- Locks: none.

create function readpast.probe_due(queue_id integer, since timestamptz,
                                   out due timestamptz, out held_until timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	select min(e.run_at) filter (where e.lease_until is null),
	       min(e.lease_until)
	  into due, held_until
	  from (select j.run_at, j.lease_until
	          from readpast.job j
	         where (j.queue_id, j.run_at) >= (probe_due.queue_id, since)
	           and (j.queue_id, j.run_at) < (probe_due.queue_id, 'infinity')
	           and j.seq is null and j.run_at < 'infinity'
	         order by j.queue_id, j.run_at
	         limit readpast.probe_most()) e;
end
$body$;
