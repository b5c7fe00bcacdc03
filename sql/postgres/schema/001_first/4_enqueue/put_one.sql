-- put_one: insert one job with any of the options. If a live job of the queue (one
-- that has not ended) has the same unique key, no job is inserted, and the result is
-- the id of the live job. If `replace` is also true, the live job gets the content of
-- the new job, unless the live job is running. If a finished job keeps the key taken,
-- no job is inserted either, and the result is the id of the finished job.
-- If the insert finds that the key was taken meanwhile, the loop searches again.
-- The insert of a job with a unique key may wait for another transaction. So such a job
-- gets its place in its group after the insert, see join_group(). Otherwise the
-- transaction would hold the lock of the group while it waits.
-- A job that waits for its group has a run_at of infinity.
-- Most jobs need no step after the insert. A single long condition decides whether any
-- step is needed, because PL/pgSQL prepares each expression again in every
-- transaction.
-- The parameters have no default values and the body has hardly any comments, because
-- they would make the routine's row in pg_proc so long that each call had to decompress
-- a part of it.
-- Parameters: the fields of the job. Null means the default: the queue's setting, no
-- kind, no headers, no key, no `extra` or no group. `extra` has the rarely used settings
-- in one parameter, because each parameter costs about 1,400 instructions. joined: see
-- stays_open().
-- Result:
--   id: the new job, or the job that has the key. Null: there is no such queue, or the
--     payload is too large.
--   outcome: 0: the new job was inserted. 1: another job has the key, and was not
--     changed. 2: the live job that has the key was replaced.
-- Locks: the row of the live job with the key, for key share, or for update if the job
-- is replaced. If a worker waits, the call also locks a row of `waiter`. Above READ
-- COMMITTED the call also locks the queue's row, see keep_queue(). The call waits for
-- an open transaction that inserts the same key.

create function readpast.put_one(
	queue text, payload bytea, priority integer, delay_ms bigint,
	run_at timestamptz, max_attempts integer, kind text, headers json,
	unique_key text, replace boolean, extra readpast.extra, group_key text, joined boolean,
	out id bigint, out outcome integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	moment timestamptz := readpast.take_xid();
	due    timestamptz := greatest(moment + readpast.ms(delay_ms), run_at, moment);
	its    record;
	is_locked boolean;
	requests text[];
	epoch  bigint;
	came   bigint;
	seq    bigint;
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.keep_queue(queue);
	end if;
	select * into its from readpast.find_queue(queue, priority, octet_length(payload));
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(headers);
	end if;
	if put_one.group_key is not null and due <= moment and unique_key is null then
		select m.requests, m.epoch, m.came, case when m.came is null then due else 'infinity' end
		  into requests, epoch, came, due
		  from readpast.must_wait_one(its.id, put_one.group_key, joined) m;
	end if;

	outcome := 0;
	loop
		if unique_key is not null then
			select l.id, l.is_locked into id, is_locked
			  from readpast.lock_live(its.id, put_one.unique_key, replace) l;
			outcome := case when id is null then 0 when replace and is_locked then
				readpast.replace_live(id, its.lane_id, due, due <= moment, coalesce(max_attempts,
					its.max_attempts), kind, headers, payload, extra, group_key) else 1 end;
			exit when id is not null;
		end if;
		insert into readpast.job (lane_id, seq, run_at, created_at, queue_id, max_attempts,
		                          slot_epoch, came, extra, group_key, unique_key, kind,
		                          headers, payload)
		values (its.lane_id, case when due <= moment then readpast.next_in_line(its.lane_id) end,
		        due, moment, its.id, coalesce(max_attempts, its.max_attempts), epoch, came, extra,
		        group_key, unique_key, kind, headers, payload)
		    on conflict (queue_id, unique_key) where unique_key is not null do nothing
		returning job.id, job.seq into id, seq;
		exit when found;
	end loop;

	if outcome <> 1 and (not its.is_open or its.waiters_until > moment or group_key is not null
		or not put_one.extra is null or unique_key is not null and readpast.has_taken_keys()) then
		if requests is not null then
			perform readpast.note_new(its.lane_id, moment, array[id], array[seq], array[came],
			                          array[group_key], requests, epoch);
		elsif unique_key is not null and outcome = 0 then
			perform readpast.need_free_key(its.id, unique_key);
			perform readpast.join_group(id, moment, joined) where put_one.group_key is not null;
		end if;
		perform readpast.note_expiry((put_one.extra).expire_at, id, id);
		perform readpast.open_lane(its.lane_id) where not its.is_open;
		perform readpast.wake(its.id) where its.waiters_until > moment;
	end if;
end
$body$;
