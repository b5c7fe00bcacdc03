-- start_group_limit: a queue that had no group limit gets one. Give each running job a
-- slot of its group (the right of one job to run), even if there are more such jobs
-- than the limit. Three kinds of jobs get no slot: jobs of claims that have not committed
-- yet, jobs that other transactions keep locked for longer than lock_patience(), for
-- example to settle them, and running jobs beyond the first :most_limit. Slots from an
-- earlier limit stay.
-- queue_id: the queue.
-- Result: none.
-- Locks: the queue's row, and the rows of the running jobs, so completions of them wait
-- until this transaction ends. If other transactions have locked some of these rows, the
-- call tries again and again until lock_patience() is over.

create function readpast.start_group_limit(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	til    timestamptz := clock_timestamp() + readpast.lock_patience();
	ids    bigint[] := array(
		select r.id from readpast.running_in(start_group_limit.queue_id, :most_limit) r);
	locked bigint[];
begin
	loop
		-- Jobs that do not run any more are left out.
		ids := array(select j.id from readpast.job j
		              where j.id = any (ids) and j.lease_until is not null
		                and j.group_key is not null);
		locked := array(select j.id from readpast.job j
		                 where j.id = any (ids) and j.lease_until is not null
		                   for no key update skip locked);
		insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
		select j.queue_id, j.group_key, j.id, readpast.priority_of(j.lane_id),
		       coalesce(j.seq, 0)
		  from readpast.job j
		 where j.id = any (locked)
		    on conflict do nothing;
		exit when cardinality(locked) = cardinality(ids) or clock_timestamp() > til;
		ids := array(select i.id from unnest(ids) as i(id)
		             except
		             select l.id from unnest(locked) as l(id));
		perform pg_sleep_for(readpast.lock_retry());
	end loop;
	update readpast.queue q
	   set group_lowered = true
	 where q.id = start_group_limit.queue_id and not q.group_lowered
	   and exists (select 1 from readpast.group_slot s
	                where s.queue_id = q.id
	                group by s.group_key
	               having count(*) > q.group_limit);
end
$body$;
