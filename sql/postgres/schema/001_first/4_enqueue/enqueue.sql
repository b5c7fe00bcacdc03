-- enqueue: put a job into a queue. A queue that does not exist is created.
-- queue, payload: the job; priority, delay, run_at, max_attempts: null stands
-- for the queue's setting, or for now; kind, headers: may be null; unique_key: if a
-- live job of the queue has this key, no job is added, and `replace` gives that live
-- job the new content. keep: how long the job is kept after it is done;
-- timeout: the longest run of a handler; expire: after this time it is not claimed, but
-- cancelled; backoff: the delays after its failed attempts, of which the last repeats;
-- unique_for: its key stays taken for so long after it is done.
-- Result: the id of the new job, or of the live job that has the key. RP003: an
-- argument is wrong; RP004: the payload is larger than the queue takes; RP006:
-- the job to be replaced is running.
-- Locks: see put_one() and queue_create().

create function readpast.enqueue(
	queue text, payload bytea, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	unique_for interval default null)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	id       bigint;
	outcome  integer;
	is_plain boolean := num_nonnulls(priority, delay, run_at, max_attempts,
	                                 headers, unique_key, keep, timeout,
	                                 expire, backoff, unique_for) = 0;
begin
	-- One expression covers most jobs, because PL/pgSQL prepares each expression
	-- again in every transaction.
	if not is_plain or replace or payload is null or kind is not null then
		perform readpast.check_job(payload, priority, delay, run_at,
		                           max_attempts, kind, unique_key, replace);
		perform readpast.check_terms(keep, timeout, expire, backoff,
		                             unique_for, unique_key, delay, run_at);
	end if;
	loop
		if is_plain then
			id := readpast.put_plain(queue, kind, payload);
		else
			select p.id, p.outcome into id, outcome
			  from readpast.put_one(
			           queue, payload, priority, readpast.to_ms(delay),
			           run_at, max_attempts, kind, headers::json, unique_key,
			           replace, readpast.to_ms(keep),
			           readpast.to_ms(timeout), readpast.to_ms(expire),
			           readpast.backoff_list(backoff),
			           readpast.to_ms(unique_for)) p;
		end if;
		exit when id is not null;
		perform readpast.need_queue(queue, octet_length(payload));
	end loop;
	if replace and outcome = 1 then
		raise exception 'job % cannot be replaced: it is running, or done and '
			'its key still taken', id
			using errcode = 'RP006';
	end if;
	return id;
end
$body$;
