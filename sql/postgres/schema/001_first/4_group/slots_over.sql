-- slots_over: if the group limit was lowered, or was set while more jobs ran, a group may
-- have more slots (rows of `group_slot`) than the limit. Return the jobs that have the
-- slots beyond the limit. The slots of running jobs count first, then those of the jobs
-- that came first.
-- queue_id, group_key: the group.
-- group_limit: the limit.
-- Rows: the ids of the jobs.
-- Locks: none.

create function readpast.slots_over(queue_id integer, group_key text,
                                    group_limit integer)
returns setof bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
begin
	return query
	select s.job_id
	  from readpast.group_slot s
	  join readpast.job j on j.id = s.job_id
	 where s.queue_id = slots_over.queue_id and s.group_key = slots_over.group_key
	 order by j.lease_until is null, s.priority, s.came, s.job_id
	offset group_limit;
end
$body$;
