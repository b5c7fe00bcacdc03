-- admit_requested: carry out recheck requests of a queue. Each request names a group in
-- which a waiting job may find a slot. If another transaction has locked a group, the
-- requests of that group stay.
-- queue_id: the queue.
-- Result: none.
-- Locks: the locks of lock_groups(), the requests, and the rows of the jobs that are
-- admitted. Rows that other transactions have locked are skipped.

create function readpast.admit_requested(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $body$
declare
	locked text[];
begin
	perform readpast.request_later(queue_id, r.group_key)
	   from (select r.group_key from readpast.group_recheck r
	          where r.queue_id = admit_requested.queue_id and r.and_later
	          limit 1) r;
	locked := readpast.lock_groups(queue_id, array(
		select distinct r.group_key
		  from (select r.group_key from readpast.group_recheck r
		         where r.queue_id = admit_requested.queue_id and not r.and_later
		         order by r.id
		         limit readpast.admit_slice()) r));
	if locked = '{}' then
		return;
	end if;
	-- Delete the requests before reading the waiting jobs. A request and its jobs are
	-- committed together, so the statements after this one see the jobs.
	delete from readpast.group_recheck r
	 where r.ctid = any (array(
	           select r.ctid from readpast.group_recheck r
	            where r.queue_id = admit_requested.queue_id and not r.and_later
	              and r.group_key = any (locked)
	            order by r.id
	            limit readpast.admit_slice()
	              for update skip locked));
	perform readpast.delete_ghosts(queue_id, locked),
	        readpast.rewind_slots(queue_id, locked);
	perform readpast.admit_groups_of(queue_id, locked);
end
$body$;
