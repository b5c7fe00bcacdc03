-- enqueue: put a job into a queue. A queue that does not exist is created.
-- queue, payload: the queue's name and the payload.
-- priority, max_attempts: null means the queue's setting.
-- delay, run_at: how long the job waits before it is ready, or the time at which it is
-- ready. At most one of the two may be given. If both are null, the job is ready
-- immediately.
-- kind, headers: may be null.
-- unique_key: if a live job of the queue (one that has not ended) has this key, no job
-- is added.
-- replace: if true, a live job with the same key gets the new content, unless that job
-- is running.
-- keep: how long the job is kept after it is done.
-- timeout: how long a handler may run.
-- expire: if the new job is not claimed within this time, it is cancelled.
-- backoff: the delays after failed attempts. The last delay repeats.
-- unique_for: how long the key stays taken after the new job is done.
-- group_key: the name of the group to which the job belongs.
-- Result: the id of the new job, or of the job that has the key. SQLSTATE RP003: an
-- argument is wrong. SQLSTATE RP004: the payload is larger than the queue's
-- max_payload. SQLSTATE RP006: `replace` is true, but the job with the key is running,
-- or is done and keeps its key taken.
-- Locks: the row of a live job with the same key, and a row of `waiter`, if a worker
-- waits. The call waits for an open transaction that creates the same queue or inserts
-- the same key.

create function readpast.enqueue(
	queue text, payload bytea, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	unique_for interval default null, group_key text default null)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	id       bigint;
	outcome  integer;
	is_plain boolean := num_nonnulls(priority, delay, run_at, max_attempts,
	                                 headers, unique_key, keep, timeout,
	                                 expire, backoff, unique_for, group_key) = 0;
	extra    readpast.extra;
begin
	-- One expression decides whether the checks below are needed. For most jobs
	-- they are not needed. PL/pgSQL prepares each expression again in every
	-- transaction, so one expression is faster than many.
	if not is_plain or replace or payload is null or kind is not null then
		perform readpast.check_job(payload, priority, delay, run_at,
		                           max_attempts, kind, unique_key, replace);
		if num_nonnulls(keep, timeout, expire, backoff, unique_for, group_key) > 0 then
			perform readpast.check_terms(keep, timeout, expire, backoff,
			                             unique_for, unique_key, delay,
			                             run_at, group_key);
			extra := readpast.extra_of(
				readpast.to_ms(keep), readpast.to_ms(timeout),
				clock_timestamp() + readpast.ms(readpast.to_ms(expire)),
				readpast.backoff_list(backoff),
				readpast.to_ms(unique_for));
		end if;
	end if;
	loop
		if is_plain then
			id := readpast.put_plain(queue, kind, payload);
		else
			select p.id, p.outcome into id, outcome
			  from readpast.put_one(
			           queue, payload, priority, readpast.to_ms(delay),
			           run_at, max_attempts, kind, headers::json, unique_key,
			           replace, extra, group_key, null) p;
		end if;
		exit when id is not null;
		perform readpast.need_queue(queue, octet_length(payload));
	end loop;
	if replace and outcome = 1 then
		raise exception 'job % cannot be replaced: it is running, or it is done '
			'and keeps its key', id
			using errcode = 'RP006';
	end if;
	return id;
end
$body$;
