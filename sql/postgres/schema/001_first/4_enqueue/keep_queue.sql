-- keep_queue: At READ COMMITTED an enqueue locks nothing of its queue: what it
-- puts into one that is dropped meanwhile, the sweep takes into a new one
-- (take_over()). A snapshot from before the drop would not show it: hence, at
-- the higher levels, a lock of the queue's row that only a drop has to respect;
-- 40001 if the row is gone.

create function readpast.keep_queue(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		perform 1 from readpast.queue q where q.name = queue for key share;
	end if;
end
$body$;
