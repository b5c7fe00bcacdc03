-- admit_groups_of: fill the unused slots of some groups, by letting the next waiting
-- jobs into the ready line. If the queue has no group limit, admit up to admit_slice()
-- jobs of each group. If another transaction has locked a job, that job and the later
-- jobs of its group go on waiting, and the routine adds a recheck request.
-- queue_id: the queue.
-- requests: a recheck request for each group, see merge_requests(). Waiting jobs before
-- the place of a request are left out.
-- Precondition: the caller has locked the groups by lock_groups() in an earlier
-- statement, so that this routine sees what earlier holders of the locks did.
-- Result: none.
-- Locks: the jobs' rows. Rows that other transactions have locked are skipped.

create function readpast.admit_groups_of(queue_id integer,
                                         requests readpast.group_recheck[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	most   integer;
	holds  boolean;
	names  text[];
	ids    bigint[];
	places tid[];
	epoch  bigint;
	got    bigint[];
	taken  bigint[];
	failed text[];
begin
	select q.group_limit, coalesce(q.holds_until > clock_timestamp(), false),
	       case when q.group_limit > 0 then q.group_epoch end
	  into most, holds, epoch
	  from readpast.queue q
	 where q.id = admit_groups_of.queue_id;
	select array_agg(r.group_key), array_agg(w.job_id), array_agg(w.place)
	  into names, ids, places
	  from unnest(requests) r
	 cross join lateral (
	       select w.job_id, w.place
	         from readpast.waits_after(r.queue_id, r.group_key, r.priority, r.came) w
	        limit case when most = 0 then readpast.admit_slice()
	                   else (select greatest(o.n, 0)
	                           from readpast.open_slots(r.queue_id, r.group_key,
	                                                    most) o) end) w
	 where not (holds and readpast.is_held(r.queue_id, r.group_key));
	if ids is null then
		return;
	end if;
	got := readpast.lock_waiting(ids);
	if cardinality(got) < cardinality(ids) then
		got := readpast.before_failed(names, ids, got);
		places := array(select n.place
		                  from unnest(ids, places) with ordinality as n(id, place, number)
		                 where n.id = any (got)
		                 order by n.number);
	end if;
	if got <> '{}' then
		select a.taken into taken
		  from readpast.admit_jobs(got, places,
		                           array_fill(epoch, array[cardinality(got)])) a;
	end if;
	failed := array(select distinct c.name from unnest(names, ids) as c(name, id)
	                 where c.id not in (select t.id from unnest(taken) as t(id)));
	if failed <> '{}' or most = 0 then
		insert into readpast.group_recheck (queue_id, group_key, priority, came)
		select r.queue_id, r.group_key, r.priority, r.came
		  from unnest(names) as c(name)
		  join unnest(requests) r on r.group_key = c.name
		 group by r.queue_id, r.group_key, r.priority, r.came
		having r.group_key = any (failed)
		       or most = 0 and count(*) = readpast.admit_slice();
	end if;
end
$body$;
