-- recheck_limits: after the group limit of a queue was raised or ended, add a recheck
-- request for all groups of the queue, as soon as all transactions are over that may have
-- read the earlier limit, see the table limit_change. If a queue has such transactions,
-- its rows stay for the next sweep. The routine stops after the time admit_budget().
-- Result: none.
-- Locks: rows of limit_change, and for a moment the lock of has_other_admissions(). Rows
-- that other transactions have locked are skipped.

create function readpast.recheck_limits() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	til timestamptz := clock_timestamp() + readpast.admit_budget();
	its record;
begin
	for its in
		select c.queue_id, array_agg(c.id) as changes
		  from readpast.limit_change c
		 group by c.queue_id
		 order by random()
	loop
		exit when clock_timestamp() > til;
		continue when readpast.has_other_admissions(its.queue_id);
		delete from readpast.limit_change c
		 where c.id = any (array(select c.id from readpast.limit_change c
		                          where c.id = any (its.changes)
		                            for update skip locked));
		insert into readpast.group_recheck (queue_id, group_key, and_later)
		select its.queue_id, '', true where found;
	end loop;
end
$body$;
