-- slots_before: count the slots (rows of `group_slot`) of a group that come before the
-- slot of a ready job. These are the slots of running jobs and of jobs that came earlier.
-- queue_id, group_key: the group.
-- job_id: the job.
-- Result: the number of these slots. 0 if the job has no slot.
-- Locks: none.

create function readpast.slots_before(queue_id integer, group_key text, job_id bigint)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
begin
	return (
		select count(*)
		  from readpast.group_slot its
		  join readpast.group_slot s
		    on s.queue_id = its.queue_id and s.group_key = its.group_key
		   and s.job_id <> its.job_id
		  join readpast.job j on j.id = s.job_id
		 where its.queue_id = slots_before.queue_id
		   and its.group_key = slots_before.group_key
		   and its.job_id = slots_before.job_id
		   and (j.lease_until is not null
		        or (s.priority, s.came) < (its.priority, its.came)));
end
$body$;
