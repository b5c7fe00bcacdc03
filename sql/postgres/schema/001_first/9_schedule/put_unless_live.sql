-- put_unless_live: put the job of a schedule into its queue, unless a live job has its
-- unique key.
-- queue .. content: the values of the job. `key` is null if the job has no unique key.
-- Result:
--   job_id: the new job. Null: no job was added.
--   why: a text that names the live job. Null: no live job has the key.
-- job_id and why are both null if there is no such queue or if the payload is too
-- large.
-- Locks: the rows that put_one() locks.

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
	                        headers, key, false, null, null, null) p
	 where p.id is not null;
end
$body$;
