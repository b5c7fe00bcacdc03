-- put_unless_live: put the job of a schedule into its queue, unless a live job has its
-- unique key.
-- queue, priority, key, kind, headers, content: the job; key: null if it has none.
-- Result: job_id: the new job, or null; why: the job that was still live. Both null: no
-- such queue, or the payload is too large.
-- Locks: see put_one().

create function readpast.put_unless_live(
	queue text, priority integer, key text, kind text, headers json,
	content bytea, out job_id bigint, out why text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	select case when p.outcome = 0 then p.id end,
	       case when p.outcome = 1 then format('job %s was still live', p.id) end
	  into job_id, why
	  from readpast.put_one(queue, content, priority, null, null, null, kind,
	                        headers, key, false) p
	 where p.id is not null;
end
$body$;
