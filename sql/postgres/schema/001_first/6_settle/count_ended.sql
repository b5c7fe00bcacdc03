-- count_ended: for clients in SQL, count attempts that ended in the table `tally`. (The
-- library does this itself.) The first call of a session in each second writes a row.
-- Later calls in this second add to the session's setting readpast.tally, an array of the
-- second, the queue, and the numbers that are not written yet. The next row has them.
-- queue_id: the queue of the jobs.
-- done, failed: how many jobs were done, and how many attempts failed.
-- Locks: none.

create function readpast.count_ended(queue_id integer, done bigint, failed bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	this_second bigint := extract(epoch from clock_timestamp());
	kept        bigint[] := nullif(current_setting('readpast.tally', true), '');
begin
	if kept[1] = this_second and kept[2] = queue_id then
		kept := array[this_second, queue_id, kept[3] + done, kept[4] + failed];
	else
		insert into readpast.tally (second, queue_id, done, failed)
		select this_second, t.queue_id, t.done, t.failed
		  from (values (kept[2], kept[3], kept[4]), (queue_id, done, failed))
		       as t(queue_id, done, failed)
		 where t.done + t.failed > 0;
		kept := array[this_second, queue_id, 0, 0];
	end if;
	perform set_config('readpast.tally', kept::text, false);
end
$body$;
