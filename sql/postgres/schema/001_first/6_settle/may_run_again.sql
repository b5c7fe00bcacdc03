-- may_run_again: may a job run again whose lease is over, because its worker extends the
-- lease late? The job must not be blocked, and it must be sure that no other job has
-- started in its place because of a limit.
-- q: the row of the job's queue.
-- id, group_key, came: the job's columns.
-- Result: true or false.
-- Locks: none.

create function readpast.may_run_again(q readpast.queue, id bigint,
                                       group_key text, came bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return q.run_limit = 0 and came is null
	       and (q.group_limit = 0 or group_key is null
	            or exists (select 1 from readpast.group_slot s
	                        where s.queue_id = q.id
	                          and s.group_key = may_run_again.group_key
	                          and s.job_id = may_run_again.id)
	               and not (q.group_lowered
	                        and id in (select readpast.slots_over(
	                                              q.id, may_run_again.group_key,
	                                              q.group_limit))));
end
$body$;
