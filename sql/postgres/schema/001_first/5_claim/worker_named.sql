-- worker_named: register a client in SQL as a worker, under a name that it chooses.
-- Then the client is listed among the workers, and jobs that it holds show its name.
-- Each of its claims counts as a heartbeat, a sign that the client still runs.
-- worker: the name.
-- queues: the queues that the client claims from. A queue that does not exist is
-- created, because otherwise the client could not wait for its jobs.
-- Result: the worker's id. SQLSTATE RP003: the name of the worker or of a queue is not
-- valid, or an argument is null.
-- Locks: the worker's row, if its `seen_at` is older than heartbeat_every() or if its
-- list of queues lacks one of these queues. If another transaction has locked that row,
-- the row is not changed. The call waits for an open transaction that creates the same
-- queue.

create function readpast.worker_named(worker text, queues text[])
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	it record;
begin
	perform readpast.need_name('the worker''s name', worker, :most_worker, true);
	if queues is null then
		raise exception 'the queues are null' using errcode = 'RP003';
	end if;
	select w.id, w.seen_at, w.queues ?& worker_named.queues as known into it
	  from readpast.worker w
	 where w.name = worker and w.host = '' and w.stopped_at is null
	 order by w.id desc
	 limit 1;
	if it.known is not true then
		perform readpast.queue_create(q) from unnest(queues) q;
	end if;
	if it is null then
		insert into readpast.worker
		       (name, host, pid, queues, kinds, started_at, seen_at)
		values (worker, '', 0, to_jsonb(queues),
		        to_jsonb(array(select q || '/' from unnest(queues) q)), moment,
		        moment)
		returning id into it;
	elsif not it.known or it.seen_at < moment - readpast.heartbeat_every() then
		update readpast.worker w
		   set seen_at = moment,
		       (queues, kinds) = (
		           select jsonb_agg(q.name order by q.name),
		                  jsonb_agg(q.name || '/' order by q.name)
		             from (select jsonb_array_elements_text(w.queues)
		                   union
		                   select unnest(worker_named.queues)) q(name))
		 where w.ctid = (select w.ctid from readpast.worker w
		                  where w.id = it.id for update skip locked);
	end if;
	return it.id;
end
$body$;
