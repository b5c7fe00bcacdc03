-- lock_next: lock the next ready jobs of a lane. Jobs that have expired are left out,
-- because a sweep cancels them.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- head: the position (seq) in the ready line at which to start.
-- most: lock at most this number of jobs.
-- Result: the places (ctid) of their rows, in the order of the line.
-- Locks: these rows, for update. Rows that other transactions have locked are skipped.

create function readpast.lock_next(lane_id bigint, head bigint, most integer)
returns tid[]
language plpgsql volatile as $body$
begin
	return array(select j.ctid
	               from readpast.job j
	              where j.lane_id operator(pg_catalog.=) lock_next.lane_id
	                and j.seq operator(pg_catalog.>=) head
	                and j.lease_until is null
	                and ((j.extra).expire_at is null
	                     or (j.extra).expire_at operator(pg_catalog.>)
	                        pg_catalog.clock_timestamp())
	              order by j.lane_id, j.seq
	              limit most
	                for update skip locked);
end
$body$;
