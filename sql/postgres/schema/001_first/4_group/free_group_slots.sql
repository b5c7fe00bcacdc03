-- free_group_slots: delete the slots of jobs that have ended or left their group, and
-- admit the next jobs of the groups in the same commit. If some freed slots got no job,
-- call request_missed(). When a queue gets a group limit, its running jobs get slots.
-- A transaction above READ COMMITTED may not see these new slots, or the jobs that wait.
-- Therefore it admits no job and adds recheck requests, and delete_ghosts() deletes the
-- slots later.
-- jobs: queue_id, group_key and job_id of each job. A job whose lease was over when it
-- ended may have waited for its group. In this case `priority` and `came` are its place
-- in group_wait, from which it is deleted. Otherwise `came` is null. The caller has
-- locked or deleted the jobs' rows.
-- joined: see stays_open().
-- Result: none.
-- Locks: the slots, the rows that next_waiting() locks, and those of lock_groups().

create function readpast.free_group_slots(jobs readpast.group_slot[],
                                          joined boolean default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	freed readpast.group_slot[];
	next  record;
	added readpast.group_slot[];
begin
	if exists (select 1 from unnest(jobs) j where j.came is not null) then
		delete from readpast.group_wait w
		 using unnest(jobs) j
		 where w.queue_id = j.queue_id and w.group_key = j.group_key
		   and w.priority = j.priority and w.came = j.came and w.job_id = j.job_id;
	end if;
	with gone as (
		delete from readpast.group_slot s
		 using unnest(jobs) j
		 where s.queue_id = j.queue_id and s.group_key = j.group_key
		   and s.job_id = j.job_id
		returning s.*)
	select array_agg(g::readpast.group_slot) into freed from gone g;
	if current_setting('transaction_isolation') <> 'read committed' then
		insert into readpast.group_recheck (queue_id, group_key)
		select distinct j.queue_id, j.group_key from unnest(jobs) j;
		return;
	elsif freed is null then
		return;
	end if;
	next := readpast.next_waiting(freed);
	if next.ids is not null then
		select a.added into added
		  from readpast.admit_jobs(next.ids, next.places, next.epochs) a;
	end if;
	if coalesce(cardinality(added), 0) < cardinality(freed) then
		perform readpast.request_missed(m.queue_id, array_agg(m.group_key), joined)
		   from (select s.queue_id, s.group_key
		           from (select f.queue_id, f.group_key, 1 as n from unnest(freed) f
		                 union all
		                 select a.queue_id, a.group_key, -1 from unnest(added) a) s
		          group by s.queue_id, s.group_key
		         having sum(s.n) > 0) m
		  group by m.queue_id;
	end if;
end
$body$;
