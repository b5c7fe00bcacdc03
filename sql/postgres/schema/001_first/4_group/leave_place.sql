-- leave_place: before a job changes, remove it from its group if it can keep neither its
-- slot nor its place among the waiting jobs of the group, see unblock_job(). It keeps its
-- slot if only its priority changes. But if the group limit was lowered, it gives the slot
-- up, because the group may have too many.
-- id: the job, which the caller has locked. If it is running, nothing changes.
-- lane_id, group_key: its new lane and group.
-- is_due: false if the job becomes scheduled, or stays so.
-- Result: none.
-- Locks: the rows that unblock_job() locks.

create function readpast.leave_place(id bigint, lane_id bigint, group_key text,
                                     is_due boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.unblock_job(j.id)
	   from readpast.job j
	   join readpast.queue q on q.id = j.queue_id
	  where j.id = leave_place.id and j.lease_until is null
	    and j.group_key is not null
	    and (q.id <> readpast.queue_of(leave_place.lane_id)
	         or j.group_key is distinct from leave_place.group_key
	         or j.lane_id <> leave_place.lane_id
	            and (j.run_at = 'infinity' or q.group_lowered)
	         or not is_due and (j.seq is not null or j.run_at = 'infinity'));
end
$body$;
