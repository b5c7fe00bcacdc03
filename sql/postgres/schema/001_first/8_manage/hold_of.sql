-- hold_of: hold the queue or the group of a job that the caller has claimed. For
-- example, the job called a service that refuses further requests for a minute.
-- id, claim_no: the values that claim() returned.
-- whole: true to hold the queue, false to hold the group. If false and the job has no
-- group, nothing is held.
-- for_ms: how long the hold lasts, from now.
-- Rows: the queue's id, or no row if this claim no longer has the job, or if the job
-- has no group.
-- Locks: the rows that hold_for() locks.

create function readpast.hold_of(id bigint, claim_no bigint, whole boolean,
                                 for_ms bigint) returns setof integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return query
	select h.id
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id
	 cross join lateral readpast.hold_for(
	                q.name, case when not whole then j.group_key end,
	                for_ms) as h(id)
	 where j.id = hold_of.id and j.claim_no = hold_of.claim_no
	   and j.worker_id is not null
	   and (whole or j.group_key is not null);
end
$body$;
