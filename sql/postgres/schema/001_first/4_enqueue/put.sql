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
-- Locks: a row of `waiter`, if a worker waits, and the locks of put_in_groups(). Above
-- READ COMMITTED the call also locks the queue's row, see keep_queue().

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
	before_id bigint; -- null: the jobs have no terms
	extra  readpast.extra;
	in_groups boolean := false; -- true: put_in_groups() has inserted the jobs
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.keep_queue(queue);
	end if;
	select * into its from readpast.find_queue(queue, priority, largest);
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(h.headers::json) from unnest(headers) as h(headers);
	end if;
	if num_nonnulls(keep_ms, timeout_ms, expire_ms, backoff) > 0 then
		extra := readpast.extra_of(keep_ms, timeout_ms, moment + readpast.ms(expire_ms),
		                           backoff, null);
		before_id := coalesce(pg_sequence_last_value('readpast.job_id_seq'), 0);
	end if;
	if group_keys is not null then
		return query select readpast.put_in_groups(
			its.lane_id, moment, delays_ms, run_ats, max_attempts, its.max_attempts,
			kinds, put.headers, payloads, group_keys, extra, joined);
		in_groups := found;
	end if;
	if not in_groups then
		return query
		insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
		                          max_attempts, extra, group_key, kind, headers, payload)
		select its.lane_id, case when n.due <= moment then nextval('readpast.line') end,
		       n.due, moment, its.id, coalesce(n.max_attempts, its.max_attempts),
		       extra, n.group_key, n.kind, n.headers::json, n.payload
		  from (select r.*, readpast.due_at(moment, r.delay_ms, r.run_at) as due
		          from unnest(delays_ms, run_ats, put.max_attempts, kinds, put.headers,
		                      payloads, group_keys)
		               as r(delay_ms, run_at, max_attempts, kind, headers, payload,
		                    group_key)) n
		returning job.id;
	end if;

	if before_id is not null then
		perform readpast.note_expiry(extra.expire_at, before_id + 1,
		            pg_sequence_last_value('readpast.job_id_seq'));
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
