-- lock_live: find the job that has a unique key: a live job (one that has not ended),
-- or a done job that keeps its key taken.
-- A live job that is not running is locked, so that no claim takes it before this
-- transaction ends. The caller's enqueue adds no job, and relies on this job instead. So
-- the job's handler must see what the caller's transaction writes. The lock does not
-- block other enqueues with the same key.
-- A live job that has expired is not returned, because no claim takes it, and the next
-- sweep cancels it. The routine removes its key.
-- queue_id, unique_key: the key.
-- is_patient: if another transaction has locked the row, true means to try again for
-- lock_patience(), and false means to try only once.
-- Result:
--   id: the job, or null.
--   is_locked: true if the job is live and not running, and was locked.
-- Locks: the job's row, for key share. If the job has expired, its row is locked for
-- update instead. The call does not wait for these locks. If is_patient is true, it
-- tries to get the lock for key share again and again until lock_patience() is over.

create function readpast.lock_live(queue_id integer, unique_key text,
                                   is_patient boolean,
                                   out id bigint, out is_locked boolean)
language plpgsql volatile
set enable_seqscan = off
as $body$
declare
	tries   integer := 0;
	expires timestamp with time zone;
begin
	select j.id, j.lease_until is null, (j.extra).expire_at
	  into lock_live.id, is_locked, expires
	  from readpast.job j
	 where j.queue_id operator(pg_catalog.=) lock_live.queue_id
	   and j.unique_key operator(pg_catalog.=) lock_live.unique_key;
	if id is null and not readpast.has_taken_keys() then
		return;
	end if;
	if is_locked and expires operator(pg_catalog.<=) pg_catalog.clock_timestamp() then
		update readpast.job j
		   set unique_key = null
		 where j.id operator(pg_catalog.=) any (array(
		           select o.id from readpast.job o
		            where o.id operator(pg_catalog.=) lock_live.id
		              and o.lease_until is null
		              for update skip locked));
		if found then
			id := null;
			is_locked := null;
		end if;
	end if;
	-- A done job with unique_for may keep its key taken. The commit that deletes
	-- such a job from `job` also adds the key to `taken_key`. So the key is always
	-- found in one of the two tables.
	if id is null then
		id := readpast.key_holder(queue_id, unique_key);
	end if;
	while is_locked loop
		perform 1
		   from readpast.job j
		  where j.id operator(pg_catalog.=) lock_live.id
		    and j.lease_until is null
		    for key share skip locked;
		exit when found;
		tries := tries operator(pg_catalog.+) 1;
		is_locked := is_patient
		             and (tries operator(pg_catalog.*) readpast.lock_retry())
		                 operator(pg_catalog.<) readpast.lock_patience();
		perform pg_catalog.pg_sleep_for(readpast.lock_retry()) where is_locked;
	end loop;
end
$body$;
