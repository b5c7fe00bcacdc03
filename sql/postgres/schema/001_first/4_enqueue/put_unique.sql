-- put_unique: One job with a unique key. If a live job of the queue has the key
-- it is answered instead; `replace` gives it the new job's content, unless it
-- runs. Its claim number moves on then, so that a holder whose lease ran out
-- cannot complete what it never saw. A ready or scheduled job that is answered
-- is not handed out before this transaction is over: it runs after what else
-- the transaction does. The lock stops claims. It stops neither other enqueues
-- of the key nor a verdict: only a running job gets one. If somebody has the
-- row locked the enqueue does not wait, but for a `replace`, for up to 200 ms.
-- outcome: 0 added, 1 existed, 2 replaced. id null: no such queue, or the
-- payload is larger than it takes.

create function readpast.put_unique(
	queue text, payload bytea, priority integer, delay_ms bigint,
	run_at timestamptz, max_attempts integer, kind text, headers json,
	unique_key text, replace boolean,
	out id bigint, out outcome integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	its    record;
	idle   boolean;
	tries  integer := 0;
	xid    xid8 := pg_current_xact_id();
	moment timestamptz := clock_timestamp();
	due    timestamptz := greatest(moment + readpast.ms(delay_ms), run_at,
	                               moment);
begin
	perform readpast.keep_queue(queue);
	select q.id, coalesce(put_unique.max_attempts, q.max_attempts) as attempts,
	       readpast.lane_of(q.id, coalesce(put_unique.priority, q.priority), 2)
	       as lane_id
	  into its
	  from readpast.queue q
	 where q.name = put_unique.queue
	   and octet_length(put_unique.payload) <= q.max_payload;
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(headers);
	end if;

	-- A job with the key may come between the statements: then once more.
	loop
		select j.id, j.lease_until is null into id, idle
		  from readpast.job j
		 where j.queue_id = its.id and j.unique_key = put_unique.unique_key;
		if found then
			while idle loop
				perform 1
				   from readpast.job j
				  where j.id = put_unique.id and j.lease_until is null
				    for key share skip locked;
				exit when found;
				-- A sweep has it locked for a moment, a claim for longer.
				tries := tries + 1;
				idle := replace and tries < 40;
				perform pg_sleep(0.005) where idle;
			end loop;
			exit;
		end if;
		insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
		                          max_attempts, unique_key, kind, headers,
		                          payload)
		values (its.lane_id,
		        case when due <= moment
		             then readpast.next_in_line(its.lane_id) end,
		        due, moment, its.id, its.attempts, put_unique.unique_key,
		        put_unique.kind, put_unique.headers, put_unique.payload)
		    on conflict (queue_id, unique_key) where unique_key is not null
		    do nothing
		returning job.id into id;
		if found then
			outcome := 0;
			exit;
		end if;
	end loop;

	if outcome is null then
		outcome := 1;
		if replace and idle then
			update readpast.job j
			   set lane_id = its.lane_id,
			       -- In line in the same lane it keeps its place.
			       seq = case when due <= moment
			                  then coalesce(
			                           case when j.lane_id = its.lane_id
			                                then j.seq end,
			                           readpast.next_in_line(its.lane_id))
			             end,
			       run_at = due,
			       claim_no = j.claim_no + 1,
			       attempt = 0,
			       lost = 0,
			       max_attempts = its.attempts,
			       worker_id = null,
			       last_error = null,
			       failures = null,
			       kind = put_unique.kind,
			       headers = put_unique.headers,
			       payload = put_unique.payload
			 where j.id = put_unique.id and j.lease_until is null;
			if found then
				outcome := 2;
			end if;
		end if;
	end if;

	if outcome <> 1 then
		perform readpast.open_lane(its.lane_id);
		perform readpast.wake(its.id);
	end if;
end
$body$;
