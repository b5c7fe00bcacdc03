-- next_requested: return the next queue that has recheck requests of groups. A queue that
-- has a cursor of requests is searched from this cursor on, see requests_start(). The
-- other queues have few requests, dead ones included, so one search finds the first of
-- them. Queues without requests cost nothing.
-- after: search the queues whose ids are larger than this one.
-- Result: the queue, or null if there is none.
-- Locks: none.

create function readpast.next_requested(after integer) returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
#variable_conflict use_variable
declare
	it         integer := after;
	has_cursor integer; -- the next queue that has a cursor
	has_none   integer; -- a queue before it that has requests and no cursor
begin
	loop
		has_cursor := (select c.queue_id from readpast.group_cursor c
		                where c.queue_id > it
		                order by c.queue_id, c.last_id desc
		                limit 1);
		has_none := (select r.queue_id from readpast.group_recheck r
		              where r.queue_id > it
		                and r.queue_id < coalesce(has_cursor, 2147483647)
		              order by r.queue_id, r.xid, r.id
		              limit 1);
		if has_none is not null or has_cursor is null then
			return has_none;
		elsif readpast.has_requests(has_cursor) then
			return has_cursor;
		end if;
		it := has_cursor;
	end loop;
end
$body$;
