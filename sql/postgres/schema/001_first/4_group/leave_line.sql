-- leave_line: after a queue has got a group limit or a lower one, or a group is held, take
-- the jobs that may not run now (see barred_jobs()) out of the ready line. Only the first
-- admit_slice() ready jobs of the queue are examined, so the call is quick however many
-- jobs are ready. The other jobs leave the line when a claim meets them, see
-- lock_allowed().
-- queue_id: the queue.
-- Result: none.
-- Locks: the rows of the jobs that leave the line, for update, and the rows that
-- block_jobs() deletes. Jobs that other transactions have locked are skipped.

create function readpast.leave_line(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	barred bigint[] := readpast.barred_jobs(array(
		select r.id
		  from readpast.ready_in(leave_line.queue_id, readpast.admit_slice()) r));
begin
	barred := array(select j.id
	                  from readpast.job j
	                 where j.id = any (barred) and j.seq is not null
	                   and j.lease_until is null
	                   for update skip locked);
	if barred <> '{}' then
		perform readpast.block_jobs(barred || readpast.lock_later(barred));
	end if;
end
$body$;
