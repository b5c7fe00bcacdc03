-- admit_requested: carry out the oldest recheck requests of a queue, up to admit_slice().
-- Each request names a group in which a waiting job may find a slot, or stands for many
-- groups, see request_later(). If another transaction has locked a group, the requests of
-- that group stay.
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
	ids    bigint[];
	names  text[];
	locked text[];
begin
	-- request_later() adds up to admit_slice() requests. So it must not be called before
	-- the older requests are carried out, or the number of requests would grow.
	perform readpast.request_later(queue_id, r.group_key)
	   from (select r.group_key, r.and_later
	           from readpast.group_recheck r
	          where r.queue_id = admit_requested.queue_id
	          order by r.id
	          limit readpast.admit_slice()) r
	  where r.and_later
	  limit 1;
	select array_agg(r.id), array_agg(r.group_key) into ids, names
	  from (select r.id, r.group_key from readpast.group_recheck r
	         where r.queue_id = admit_requested.queue_id and not r.and_later
	         order by r.id
	         limit readpast.admit_slice()) r;
	locked := readpast.lock_groups(queue_id, array(
		select distinct n.name from unnest(names) as n(name)));
	if locked = '{}' then
		return;
	end if;
	-- Delete the requests before reading the waiting jobs. A request and its jobs are
	-- committed together, so the statements after this one see the jobs.
	delete from readpast.group_recheck r
	 where r.ctid = any (array(
	           select r.ctid
	             from unnest(ids, names) as n(id, name)
	             join readpast.group_recheck r on r.id = n.id
	            where n.name in (select l.name from unnest(locked) as l(name))
	              for update of r skip locked));
	perform readpast.delete_ghosts(queue_id, locked),
	        readpast.rewind_slots(queue_id, locked);
	perform readpast.admit_groups_of(queue_id, locked);
end
$body$;
