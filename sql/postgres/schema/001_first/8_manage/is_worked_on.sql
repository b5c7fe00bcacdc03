-- is_worked_on: Does a job run, or has somebody locked one, or the queue? (Who
-- enqueues at a level above READ COMMITTED has.)

create function readpast.is_worked_on(queue_id integer) returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform 1
	   from readpast.queue q
	  where q.id = is_worked_on.queue_id
	    for update nowait;
	perform 1
	   from readpast.job j
	  where j.queue_id = is_worked_on.queue_id
	    for update nowait;
	perform 1
	   from readpast.archive a
	  where a.queue_id = is_worked_on.queue_id
	    for update nowait;
	return exists (select 1 from readpast.job j
	                where j.queue_id = is_worked_on.queue_id
	                  and j.lease_until is not null);
exception when lock_not_available then
	return true;
end
$body$;
