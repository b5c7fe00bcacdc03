-- start_group_limit: a queue that had no group limit gets one. Give each running job a
-- slot of its group (the right of one job to run), even if there are more such jobs
-- than the limit. Two kinds of jobs get no slot: jobs of claims that have not committed
-- yet, and jobs that other transactions have locked, for example to settle them. Slots
-- from an earlier limit stay.
-- queue_id: the queue.
-- Result: none.
-- Locks: the queue's row, and the rows of the running jobs, so completions of them wait
-- until this transaction ends. Rows that other transactions have locked are skipped.

create function readpast.start_group_limit(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
	select j.queue_id, (j.extra).group_key, j.id, readpast.priority_of(j.lane_id),
	       coalesce(j.seq, 0)
	  from readpast.running_in(start_group_limit.queue_id, :most_limit) r
	  join readpast.job j on j.id = r.id
	 where j.lease_until is not null and (j.extra).group_key is not null
	   for no key update of j skip locked
	    on conflict do nothing;
	update readpast.queue q
	   set group_lowered = true
	 where q.id = start_group_limit.queue_id and not q.group_lowered
	   and exists (select 1 from readpast.group_slot s
	                where s.queue_id = q.id
	                group by s.group_key
	               having count(*) > q.group_limit);
end
$body$;
