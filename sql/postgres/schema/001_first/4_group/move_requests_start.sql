-- move_requests_start: after recheck requests of a queue were carried out, append a cursor,
-- so that later searches start past these requests, see the table group_cursor. This is
-- done if at least requests_per_cursor() requests, of any queue, were made since the last
-- cursor. What a cursor says is true whether or not other transactions append cursors,
-- too. But only one transaction at a time appends one, and deletes the one before, so
-- that no cursors pile up.
-- queue_id: the queue.
-- before: a snapshot that was taken before the requests were read.
-- requests: the requests that were read, see next_requests().
-- gone: the ids of those that were carried out and deleted.
-- Result: none.
-- Locks: an advisory lock of the queue, and the newest cursor. If another transaction has
-- one of them, no cursor is appended.

create function readpast.move_requests_start(queue_id integer, before pg_snapshot,
                                             requests readpast.group_recheck[],
                                             gone bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_variable
declare
	past    xid8 := pg_snapshot_xmax(before);
	last_id bigint := (select max(r.id) from unnest(requests) r);
	start   record;
begin
	if cardinality(requests) = readpast.admit_slice() then
		-- More requests may be left, beginning with those of the last transaction.
		past := least(past, requests[cardinality(requests)].xid);
	end if;
	select s.past, s.last_id into start from readpast.requests_start(queue_id) s;
	if last_id < start.last_id + readpast.requests_per_cursor() or past < start.past
	   or current_setting('transaction_isolation') <> 'read committed'
	   or not pg_try_advisory_xact_lock(hashtext('readpast.group_cursor'), queue_id) then
		return;
	end if;
	-- The cursor that is the newest one now. It may have been appended since `start` was
	-- read.
	select c.ctid, c.last_id into start
	  from readpast.group_cursor c
	 where c.queue_id = queue_id
	 order by c.queue_id, c.last_id desc
	 limit 1;
	if start.last_id >= last_id then
		return;
	elsif start.last_id is not null then
		delete from readpast.group_cursor c
		 where c.ctid = (select c.ctid from readpast.group_cursor c
		                  where c.ctid = start.ctid for update skip locked);
		if not found then
			return; -- the queue is being dropped
		end if;
	end if;
	insert into readpast.group_cursor (queue_id, last_id, past, open)
	values (queue_id, last_id, past, array(
	       select x.xid
	         from (select pg_snapshot_xip(before) as xid
	               union select pg_current_xact_id() -- not in its own snapshot
	               union select r.xid from unnest(requests) r
	                      where r.id not in (select g.id from unnest(gone) as g(id))) x
	        where x.xid < past
	        order by x.xid));
end
$body$;
