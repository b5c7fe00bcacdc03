-- admit_requested: carry out the oldest recheck requests of a queue, up to
-- admit_slice(). Each request names a group in which a waiting job may find a slot, or
-- stands for many groups, see request_later(). If another transaction has locked a
-- group, the requests of that group stay. The routine looks past them, but reads at
-- most most_busy_slices() slices.
-- queue_id: the queue.
-- Result: none.
-- Locks: the locks of lock_groups(), the requests, the rows of the jobs that are
-- admitted, and the locks of move_requests_start(). Rows that other transactions have
-- locked are skipped.

create function readpast.admit_requested(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	before   pg_snapshot := pg_current_snapshot();
	requests readpast.group_recheck[];
	names    text[];
	busy     text[] := '{}';
	locked   text[];
	gone     bigint[];
begin
	-- request_later() adds up to admit_slice() requests. So it is called only when its
	-- own request is among the oldest admit_slice() ones. Otherwise the number of requests
	-- would grow.
	perform readpast.request_later(admit_requested.queue_id, r.group_key)
	   from readpast.next_requests(queue_id) r
	  where r.and_later
	  limit 1;
	for round in 1 .. readpast.most_busy_slices() loop
		requests := array(select r from readpast.next_requests(queue_id, busy) r);
		names := array(select distinct r.group_key from unnest(requests) r
		                where not r.and_later);
		locked := readpast.lock_groups(queue_id, names);
		exit when locked <> '{}' or names = '{}'
		          or cardinality(requests) < readpast.admit_slice();
		busy := busy || names;
	end loop;
	if locked = '{}' then
		return;
	end if;
	-- Delete the requests before reading the waiting jobs. A request and its jobs are
	-- committed together, so the statements after this one see the jobs.
	with gone as (
		delete from readpast.group_recheck r
		 where r.ctid = any (array(
		           select r.ctid
		             from unnest(requests) n
		             join readpast.group_recheck r
		               on r.queue_id = n.queue_id and r.xid = n.xid and r.id = n.id
		            where not n.and_later
		              and n.group_key in (select l.name from unnest(locked) as l(name))
		              for update of r skip locked))
		returning r.id)
	select array_agg(g.id) into gone from gone g;
	perform readpast.delete_ghosts(queue_id, locked),
	        readpast.rewind_slots(queue_id, locked);
	perform readpast.admit_groups_of(queue_id, locked);
	if busy = '{}' then
		perform readpast.move_requests_start(queue_id, before, requests, gone);
	end if;
end
$body$;
