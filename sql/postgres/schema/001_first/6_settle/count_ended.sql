-- count_ended: for clients in SQL, count attempts that ended in the table `tally`. (The
-- library does this itself.) The first calls of a session in each second write a row
-- each. Later calls in this second only add to the session's setting readpast.tally, an
-- array of the second, the number of calls, the queue, and the counts that are not
-- written yet. The next row that the session writes comes with a row for these counts.
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
	setting     text := current_setting('readpast.tally', true);
	kept        bigint[] := case when setting ~ '^[{]([0-9]{1,10},){2}[0-9]{1,9}(,[0-9]{1,15}){2}[}]$'
	                             then setting end;
	calls       bigint := case when kept[1] = this_second then kept[2] else 0 end;
begin
	if calls >= readpast.counted_at_once() and kept[3] = queue_id then
		kept := array[this_second, calls, queue_id, kept[4] + done, kept[5] + failed];
	else
		insert into readpast.tally (second, queue_id, done, failed)
		select t.second, t.queue_id, t.done, t.failed
		  from (values (kept[1], kept[3], kept[4], kept[5]),
		               (this_second, queue_id, done, failed))
		       as t(second, queue_id, done, failed)
		 where t.done + t.failed > 0;
		kept := array[this_second, calls + 1, queue_id, 0, 0];
	end if;
	perform set_config('readpast.tally', kept::text, false);
end
$body$;
