-- next_requests: return the oldest recheck requests of a queue, up to admit_slice().
-- queue_id: the queue.
-- busy: groups whose requests are left out.
-- Rows: the requests, ordered by the ids of the transactions that have added them.
-- Locks: none.

create function readpast.next_requests(queue_id integer, busy text[] default '{}')
returns setof readpast.group_recheck
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
	start record;
begin
	select s.past, s.open into start from readpast.requests_start(queue_id) s;
	return query
	(select r.*
	   from unnest(start.open) as o(xid) -- in ascending order
	  cross join lateral (
	        select * from readpast.group_recheck r
	         where r.queue_id = next_requests.queue_id and r.xid = o.xid
	           and r.group_key <> all (busy)
	         order by r.queue_id, r.xid, r.id
	         limit readpast.admit_slice()) r
	  limit readpast.admit_slice())
	union all
	(select r.* from readpast.group_recheck r
	  where r.queue_id = next_requests.queue_id and r.xid >= start.past
	    and r.group_key <> all (busy)
	  order by r.queue_id, r.xid, r.id
	  limit readpast.admit_slice())
	limit readpast.admit_slice();
end
$body$;
