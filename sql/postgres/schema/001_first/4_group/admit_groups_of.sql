-- admit_groups_of: fill the unused slots of some groups, by letting the next waiting
-- jobs into the ready line. If the queue has no group limit, all waiting jobs may enter
-- it. The routine admits up to admit_slice() jobs, and adds recheck requests for the
-- groups that may have more. If another transaction has locked a job, that job and the
-- later jobs of its group go on waiting, and the routine adds a recheck request, too.
-- queue_id, group_keys: the groups. The caller has locked them by lock_groups() in an
-- earlier statement, so that this routine sees what earlier holders of the locks did.
-- Result: none.
-- Locks: the jobs' rows. Rows that other transactions have locked are skipped.

create function readpast.admit_groups_of(queue_id integer, group_keys text[])
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
	missed text[]; -- groups that may have more jobs to admit
begin
	select q.group_limit, coalesce(q.holds_until > clock_timestamp(), false),
	       case when q.group_limit > 0 then q.group_epoch end
	  into most, holds, epoch
	  from readpast.queue q
	 where q.id = admit_groups_of.queue_id;
	select array_agg(w.group_key), array_agg(w.job_id), array_agg(w.place)
	  into names, ids, places
	  from (select w.group_key, w.job_id, w.place
	          from unnest(group_keys) as g(name)
	         cross join lateral (
	               select w.group_key, w.job_id, w.ctid as place
	                 from readpast.group_wait w
	                where w.queue_id = admit_groups_of.queue_id and w.group_key = g.name
	                order by w.queue_id, w.group_key, w.priority, w.came
	                limit case when most > 0 then (
	                          select o.n
	                            from readpast.open_slots(admit_groups_of.queue_id,
	                                                     g.name, most) o) end) w
	         where not (holds and readpast.is_held(admit_groups_of.queue_id, g.name))
	         limit readpast.admit_slice()) w;
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
	missed := array(select c.name from unnest(names, ids) as c(name, id)
	                 where c.id not in (select t.id from unnest(taken) as t(id)));
	if cardinality(ids) = readpast.admit_slice() then
		missed := missed
		          || group_keys[array_position(group_keys, names[cardinality(names)]):];
	end if;
	insert into readpast.group_recheck (queue_id, group_key)
	select distinct admit_groups_of.queue_id, m.name from unnest(missed) as m(name);
end
$body$;
