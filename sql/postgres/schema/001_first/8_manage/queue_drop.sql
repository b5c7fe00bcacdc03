-- queue_drop: Remove the queue and whatever it still has. busy: a job runs, or
-- a transaction that is open is at work on one, and nothing was done. What
-- transactions that are open have just put in stays, and is taken into a new
-- queue (take_over()).

create function readpast.queue_drop(queue text)
returns table (id integer, busy boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	select q.id into id
	  from readpast.queue q where q.name = queue_drop.queue;
	if not found then
		return;
	end if;
	busy := readpast.is_worked_on(id);
	if not busy then
		-- One that came since may have been claimed since.
		delete from readpast.job j
		 where j.queue_id = queue_drop.id and j.lease_until is null;
		delete from readpast.archive a where a.queue_id = queue_drop.id;
		perform readpast.forget_hints(id);
		insert into readpast.dropped (queue_id, name) values (id, queue);
		delete from readpast.queue q where q.id = queue_drop.id;
	end if;
	return next;
end
$body$;
