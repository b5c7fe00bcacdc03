-- put: Jobs of one queue and one priority, arrays of the same length for the
-- rest; the largest payload's size. Nulls stand for the queue's settings.
-- Answers the ids in order, or nothing: no such queue, or a payload larger than
-- it takes.
--
-- A transaction is given its id before it looks at the clock and draws numbers of the
-- line, here and in the other ways to enqueue: so the sweep can tell when everything up
-- to a time or a number is decided. One that draws late in its life, or for long, leaves
-- a note in `stray`, which is seen when its jobs are: the sweep looks for them behind
-- the head.

create function readpast.put(
	queue text, priority integer, delays_ms bigint[], run_ats bigint[],
	max_attempts bigint[], kinds text[], headers text[], payloads bytea[],
	largest bigint)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its    record;
	xid    xid8 := pg_current_xact_id();
	moment timestamptz := clock_timestamp();
	before bigint;
begin
	perform readpast.keep_queue(queue);
	select q.id, q.max_attempts,
	       readpast.lane_of(q.id, coalesce(put.priority, q.priority), 2)
	       as lane_id,
	       put.priority is null or get_bit(q.opened, put.priority) = 1
	       as is_open,
	       q.asleep_until > moment as sleeps
	  into its
	  from readpast.queue q
	 where q.name = put.queue and put.largest <= q.max_payload;
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(h.headers::json)
		   from unnest(headers) as h(headers);
	end if;
	before := (select s.last_value from readpast.line s);
	return query
	insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, kind, headers, payload)
	select its.lane_id,
	       case when r.due is null or r.due <= moment
	            then nextval('readpast.line') end,
	       coalesce(greatest(r.due, moment), moment), moment, its.id,
	       coalesce(r.max_attempts, its.max_attempts), r.kind,
	       r.headers::json, r.payload
	  from (select n.max_attempts, n.kind, n.headers, n.payload,
	               case when n.delay_ms > 0 or n.run_at > 0
	                    then greatest(moment + readpast.ms(n.delay_ms),
	                                  readpast.at_ms(n.run_at)) end as due
	          from unnest(delays_ms, run_ats, put.max_attempts, kinds,
	                      put.headers, payloads)
	               as n(delay_ms, run_at, max_attempts, kind, headers,
	                    payload)) r
	returning job.id;

	if not its.is_open then
		perform readpast.open_lane(its.lane_id);
	end if;
	if cardinality(payloads) > 1000 or not readpast.young() then
		perform readpast.note_late(its.lane_id, before);
	end if;
	if its.sleeps then
		perform readpast.wake(its.id);
	end if;
end
$body$;
