-- has_requests: does a queue have recheck requests of groups?
-- queue_id: the queue.
-- Result: true or false.
-- Locks: none.

create function readpast.has_requests(queue_id integer) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
	start record;
begin
	select s.past, s.open into start from readpast.requests_start(queue_id) s;
	if exists (select 1 from readpast.group_recheck r
	            where r.queue_id = has_requests.queue_id and r.xid >= start.past) then
		return true;
	elsif start.open = '{}' then
		return false;
	end if;
	return exists (select 1
	                 from unnest(start.open) as o(xid)
	                cross join lateral (
	                      select 1 from readpast.group_recheck r
	                       where r.queue_id = has_requests.queue_id and r.xid = o.xid
	                       limit 1) r);
end
$body$;
