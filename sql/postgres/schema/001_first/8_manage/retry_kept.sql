-- retry_kept: make a dead or cancelled job ready again. The job keeps its id, its
-- attempts are counted from 0 again, and its claim number becomes larger than before.
-- If the job's time expire_at has passed, that time is removed, so the job does not
-- expire.
-- job_id: the job.
-- kind: if not null, only a job of this kind is retried.
-- Rows: one, or none if there is no such job.
--   id: the job.
--   taken: true if a live job has the same unique key. In this case nothing was
--     changed.
-- Locks: the job's row in the archive, and the rows that block_barred() and wake() lock.
-- The call waits for an open transaction that inserts the same unique key.

create function readpast.retry_kept(job_id bigint, kind text)
returns table (id bigint, taken boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	moment timestamptz := readpast.take_xid();
	a      record;
	lane   bigint;
	its_extra readpast.extra;
begin
	select a.* into a
	  from readpast.archive a
	 where a.id = retry_kept.job_id and a.state in (5, 6)
	   and (retry_kept.kind is null or a.kind = retry_kept.kind)
	   for update;
	if not found then
		return;
	end if;
	its_extra := a.extra;
	if its_extra.expire_at <= moment then
		its_extra.expire_at := null;
	end if;
	lane := readpast.lane_of(a.queue_id, a.priority, 2);
	insert into readpast.job
	       (id, lane_id, seq, run_at, created_at, queue_id, max_attempts,
	        claim_no, extra, group_key, unique_key, kind, headers, last_error, failures,
	        payload)
	values (a.id, lane, readpast.next_in_line(lane), moment,
	        a.created_at, a.queue_id, a.max_attempts, a.claim_no + 1, its_extra,
	        a.group_key, a.unique_key, a.kind, a.headers, a.last_error, a.failures,
	        a.payload)
	    on conflict (queue_id, unique_key) where unique_key is not null
	    do nothing;
	taken := not found;
	id := a.id;
	if not taken then
		delete from readpast.archive k where k.id = a.id;
		insert into readpast.expiry (expire_at, first_id, last_id)
		select its_extra.expire_at, a.id, a.id
		 where its_extra.expire_at is not null;
		perform readpast.open_lane(lane);
		perform readpast.block_barred(array[a.id]) where a.group_key is not null;
		perform readpast.wake(a.queue_id);
	end if;
	return next;
end
$body$;
