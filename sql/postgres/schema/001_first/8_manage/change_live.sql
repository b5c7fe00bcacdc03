-- change_live: change a live job that is not running. A ready job keeps its place in
-- the ready line. But if its queue or priority changes, it goes to the end of its new
-- lane (a queue, a priority and a class, see lane_of()).
-- job_id: the job.
-- kind: if not null, only a job of this kind is changed.
-- state: if not null, only a job in this state is changed. 1: scheduled. 2 or 7: ready
-- or blocked, which count as one state.
-- queue .. max_attempts: the new values. Null leaves a value as it is.
-- Rows: one, or none if there is no such job or if the job is running.
--   id: the job.
--   outcome: 0: the job was changed. 1: another live job of the new queue has the same
--     unique key. 2: there is no such queue. 3: the payload is larger than the new
--     queue's limit. 4: the job would expire before it is due.
-- Locks: the job's row, and a row of `waiter`, if a worker waits. Above READ COMMITTED
-- the call also locks the row of the new queue, see keep_queue(). The call waits for a
-- claim or another change of the same job, and for an open transaction that inserts the
-- same key.

create function readpast.change_live(
	job_id bigint, kind text, state bigint, queue text, priority integer,
	delay interval, run_at timestamptz, max_attempts integer)
returns table (id bigint, outcome integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	moment timestamptz := readpast.take_xid();
	due    timestamptz := case when delay is not null or run_at is not null
	                           then greatest(moment + delay, run_at, moment) end;
	it     record;
	new_id integer;
	most   bigint;
begin
	select j.lane_id, j.queue_id, j.unique_key, (j.extra).expire_at,
	       octet_length(j.payload) as size into it
	  from readpast.job j
	 where j.id = change_live.job_id and j.lease_until is null
	   and (change_live.kind is null or j.kind = change_live.kind)
	   and (change_live.state is null
	        or case change_live.state when 7 then 2 else change_live.state end
	           = case when readpast.is_waiting(j.seq, j.run_at) then 2 else 1 end)
	   for update;
	if not found then
		return;
	end if;
	id := job_id;
	new_id := it.queue_id;
	if queue is not null then
		if current_setting('transaction_isolation') <> 'read committed' then
			perform readpast.keep_queue(queue);
		end if;
		select q.id, q.max_payload into new_id, most
		  from readpast.queue q
		 where q.name = change_live.queue;
	end if;
	outcome := case when new_id is null then 2
	                when new_id <> it.queue_id and it.size > most then 3
	                when due >= it.expire_at then 4
	                else 0 end;
	if outcome = 0 then
		outcome := readpast.change_place(
		               job_id, new_id,
		               readpast.lane_of(
		                   new_id,
		                   coalesce(priority, readpast.priority_of(it.lane_id)),
		                   case when due > moment
		                             and readpast.class_of(it.lane_id) = 0
		                        then 2
		                        else readpast.class_of(it.lane_id) end),
		               due, due <= moment, max_attempts);
	end if;
	return next;
end
$body$;
