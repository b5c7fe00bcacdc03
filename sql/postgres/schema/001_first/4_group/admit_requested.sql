-- admit_requested: carry out recheck requests of a queue's groups. Each names a group in
-- which a waiting job may find a slot. A request whose group another transaction has
-- locked stays. A request of a group in which an open transaction frees a slot is left
-- again. That transaction may have looked for the next job before the waiting jobs were
-- committed. Then it admits none of them, and its slot still counts here.
-- queue_id: the queue.
-- Result: none.
-- Locks: those of lock_groups(), the requests, and the rows of the jobs that are admitted.
-- Rows that other transactions have locked are skipped.

create function readpast.admit_requested(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $body$
declare
	locked  text[];
	freeing text[];
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
	-- First the requests, then the jobs: the jobs of a request that is seen here are
	-- visible to the statements after this one.
	delete from readpast.group_recheck r
	 where r.ctid = any (array(
	           select r.ctid from readpast.group_recheck r
	            where r.queue_id = admit_requested.queue_id and not r.and_later
	              and r.group_key = any (locked)
	            order by r.id
	            limit readpast.admit_slice()
	              for update skip locked));
	freeing := array(select g.name from unnest(locked) as g(name)
	                  where readpast.is_freeing(queue_id, g.name));
	perform readpast.admit_groups_of(queue_id, locked);
	insert into readpast.group_recheck (queue_id, group_key)
	select admit_requested.queue_id, f.name
	  from unnest(freeing) as f(name)
	 where exists (select 1 from readpast.group_wait w
	                where w.queue_id = admit_requested.queue_id
	                  and w.group_key = f.name);
end
$body$;
