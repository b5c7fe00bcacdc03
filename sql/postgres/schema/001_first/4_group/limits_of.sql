-- limits_of: return how many jobs a claim may take from a queue that has a limit, a
-- rate or a held group. Before that, carry out the recheck requests of the queue's
-- groups.
-- queue_id: the queue.
-- most: how many jobs the claim wants.
-- joined: true if the transaction may stay open after the claim. In this case no request
-- is carried out, because this transaction would hold the locks of the groups for too
-- long.
-- Result:
--   room: how many jobs the claim may take, 0 to `most`.
--   counts: true if the claim must call take_slots() and note_starts() for its jobs.
-- Locks: the lock of lock_limit(), if the queue has a run_limit or a rate, and the
-- locks of admit_requested().

create function readpast.limits_of(queue_id integer, most integer, joined boolean,
                                   out room integer, out counts boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	its record;
begin
	if not joined and readpast.has_requests(queue_id) then
		perform readpast.admit_requested(queue_id);
	end if;
	room := most;
	counts := (select q.run_limit > 0 or q.rate_count > 0
	             from readpast.queue q
	            where q.id = limits_of.queue_id);
	if counts and not readpast.lock_limit(queue_id) then
		room := 0;
	elsif counts then
		-- Read the queue only now, because it may have changed while this call waited
		-- for the lock.
		select q.run_limit, q.rate_count, q.rate_ms,
		       q.paused_at is not null
		       or coalesce(q.held_until > clock_timestamp(), false) as is_stopped
		  into its
		  from readpast.queue q
		 where q.id = limits_of.queue_id;
		most := case when its.is_stopped then 0 else most end;
		room := least(most, readpast.free_slots(queue_id, its.run_limit, most),
		              readpast.free_starts(queue_id, its.rate_count, its.rate_ms));
	end if;
end
$body$;
