-- put_in_groups: insert many jobs that have groups, if their queue has a group limit or a
-- held group. put() has an insert of its own for all other jobs, because ids and numbers
-- that were drawn before would make that insert slower.
-- lane_id: the lane of the jobs.
-- moment: the time of the enqueue.
-- delays_ms .. payloads, group_keys, joined: the parameters of put().
-- default_attempts: the max_attempts of jobs that have none of their own.
-- extra: the value of the jobs.
-- Rows: the ids, in the order of the arrays. No rows: the queue has neither a group limit
-- nor a held group, so put() inserts the jobs.
-- Locks: the locks of lock_groups().

create function readpast.put_in_groups(
	lane_id bigint, moment timestamptz, delays_ms bigint[], run_ats bigint[],
	max_attempts bigint[], default_attempts integer, kinds text[], headers text[],
	payloads bytea[], group_keys text[], extra readpast.extra, joined boolean)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $body$
declare
	its_queue_id constant integer := readpast.queue_of(lane_id);
	due_keys text[] := array( -- null for a job that has no group or is not due
		select case when readpast.due_at(moment, k.delay_ms, k.run_at) <= moment
		            then k.name end
		  from unnest(group_keys, delays_ms, run_ats) as k(name, delay_ms, run_at));
	it    record; -- the result of must_wait()
	ids   bigint[];
	seqs  bigint[]; -- of the jobs that need not wait; scheduled jobs do not use theirs
	cames bigint[]; -- of the jobs that must wait
begin
	select m.waits, m.requests, m.epoch into it
	  from readpast.must_wait(its_queue_id, due_keys, joined) m;
	if it.requests is null then
		return;
	end if;
	select array_agg(nextval('readpast.job_id_seq')),
	       array_agg(case when n.waits is null then nextval('readpast.line') end),
	       array_agg(case when n.waits then nextval('readpast.line') end)
	  into ids, seqs, cames
	  from unnest(due_keys, it.waits) as n(name, waits);
	perform readpast.note_new(lane_id, moment, ids, seqs, cames, due_keys, it.requests,
	                          it.epoch);
	return query
	insert into readpast.job (id, lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, slot_epoch, came, extra, group_key, kind,
	                          headers, payload)
	select n.id, put_in_groups.lane_id, case when n.due <= moment then n.seq end,
	       case when n.came is null then n.due else 'infinity' end, moment,
	       its_queue_id, coalesce(n.max_attempts, default_attempts),
	       case when n.group_key is not null and n.due <= moment and n.came is null
	            then it.epoch end,
	       n.came, put_in_groups.extra, n.group_key, n.kind, n.headers::json, n.payload
	  from (select r.*, readpast.due_at(moment, r.delay_ms, r.run_at) as due
	          from unnest(delays_ms, run_ats, put_in_groups.max_attempts, kinds,
	                      put_in_groups.headers, payloads, group_keys, ids, seqs, cames)
	               as r(delay_ms, run_at, max_attempts, kind, headers, payload, group_key,
	                    id, seq, came)) n
	returning job.id;
end
$body$;
