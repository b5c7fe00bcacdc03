-- key_holder: find the finished job that keeps a unique key taken.
-- queue_id, unique_key: the key.
-- Result: the job's id, or null if there is no such job.
-- Locks: none.

create function readpast.key_holder(queue_id integer, unique_key text)
returns bigint
language plpgsql volatile
as $body$
begin
	return (select k.job_id
	          from readpast.taken_key k
	         where k.queue_id operator(pg_catalog.=) key_holder.queue_id
	           and k.unique_key operator(pg_catalog.=) key_holder.unique_key
	           and k.until operator(pg_catalog.>) pg_catalog.clock_timestamp());
end
$body$;
