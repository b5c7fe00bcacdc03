-- put_one: One job without a unique key. Its id; null: no such queue, or the
-- payload is larger than it takes.

create function readpast.put_one(
	queue text, priority integer, delay_ms bigint, run_at timestamptz,
	max_attempts integer, kind text, headers json, payload bytea)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its    record;
	xid    xid8 := pg_current_xact_id();
	moment timestamptz := clock_timestamp();
	due    timestamptz := greatest(moment + readpast.ms(delay_ms), run_at,
	                               moment);
	id     bigint;
begin
	perform readpast.keep_queue(queue);
	select q.id, coalesce(put_one.max_attempts, q.max_attempts) as attempts,
	       readpast.lane_of(q.id, coalesce(put_one.priority, q.priority), 2)
	       as lane_id,
	       put_one.priority is null or get_bit(q.opened, put_one.priority) = 1
	       as is_open,
	       q.asleep_until > moment as sleeps
	  into its
	  from readpast.queue q
	 where q.name = put_one.queue
	   and octet_length(put_one.payload) <= q.max_payload;
	if not found then
		return null;
	end if;
	if headers is not null then
		perform readpast.need_object(headers);
	end if;
	insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, kind, headers, payload)
	values (its.lane_id,
	        case when due <= moment
	             then readpast.next_in_line(its.lane_id) end,
	        due, moment, its.id, its.attempts, put_one.kind,
	        put_one.headers, put_one.payload)
	returning job.id into id;

	if not its.is_open then
		perform readpast.open_lane(its.lane_id);
	end if;
	if its.sleeps then
		perform readpast.wake(its.id);
	end if;
	return id;
end
$body$;
