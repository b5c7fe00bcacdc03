-- put: insert many jobs of one queue and one priority.
-- delays_ms .. payloads: arrays of the same length, with an element for each job. A
-- null array, or a null element, means the default: no delay, the queue's max_attempts,
-- no kind, no headers.
-- run_ats: times at which the jobs are due, in milliseconds since 1970.
-- largest: the size of the largest payload, in bytes.
-- keep_ms .. backoff: values that all of the jobs get, see the type `extra`. Each may
-- be null.
-- group_keys: the group of each job. joined: see stays_open().
-- Rows: the ids, in the order of the arrays. No rows: there is no such queue, or a
-- payload is too large.
-- Locks: a row of `waiter`, if a worker waits. Above READ COMMITTED the call also locks
-- the queue's row, see keep_queue().

create function readpast.put(
	queue text, priority integer, delays_ms bigint[], run_ats bigint[],
	max_attempts bigint[], kinds text[], headers text[], payloads bytea[],
	largest bigint, keep_ms bigint default null, timeout_ms bigint default null,
	expire_ms bigint default null, backoff json default null,
	group_keys text[] default null, joined boolean default null)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := readpast.take_xid();
	its    record;
	before bigint := (select s.last_value from readpast.line s);
	before_id bigint; -- null: the jobs neither expire nor have groups
	extra  readpast.extra;
	waits  boolean[];
	requests text[];
	epoch  bigint;
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.keep_queue(queue);
	end if;
	select * into its from readpast.find_queue(queue, priority, largest);
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(h.headers::json)
		   from unnest(headers) as h(headers);
	end if;
	if num_nonnulls(keep_ms, timeout_ms, expire_ms, backoff, group_keys) > 0 then
		extra := readpast.extra_of(keep_ms, timeout_ms, moment + readpast.ms(expire_ms),
		                           backoff, null, null);
		before_id := coalesce(pg_sequence_last_value('readpast.job_id_seq'), 0);
		select m.waits, m.requests, m.epoch into waits, requests, epoch
		  from readpast.must_wait(its.id, group_keys, joined) m;
	end if;
	return query
	insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, kind, headers, payload, extra)
	select its.lane_id,
	       case when r.due <= moment and r.waits is null then nextval('readpast.line') end,
	       case when r.due <= moment and r.waits then 'infinity' else r.due end,
	       moment, its.id, coalesce(r.max_attempts, its.max_attempts), r.kind,
	       r.headers::json, r.payload, readpast.with_group(
	           extra, r.group_key, case when r.due <= moment and r.waits is null then epoch end,
	           case when r.due <= moment and r.waits then nextval('readpast.line') end)
	  from (select n.*, greatest(moment + readpast.ms(n.delay_ms),
	                        readpast.at_ms(n.run_at), moment) as due
	          from unnest(delays_ms, run_ats, put.max_attempts, kinds,
	                      put.headers, payloads, group_keys, waits)
	               as n(delay_ms, run_at, max_attempts, kind, headers, payload,
	                    group_key, waits)) r
	returning job.id;

	if before_id is not null then
		perform readpast.note_terms(its.id, requests, extra.expire_at, before_id + 1,
		            pg_sequence_last_value('readpast.job_id_seq'), moment);
	end if;
	if not its.is_open then
		perform readpast.open_lane(its.lane_id);
	end if;
	if not readpast.young() then
		perform readpast.note_late(its.lane_id, before);
	end if;
	if its.waiters_until > moment then
		perform readpast.wake(its.id);
	end if;
end
$body$;
