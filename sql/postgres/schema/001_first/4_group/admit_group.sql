-- admit_group: let as many waiting jobs of a group into the ready line as it has unused
-- slots, in the order of the group. If the queue has no group limit, up to
-- admit_slice() jobs. A job that another transaction has locked is not passed over: the
-- jobs after it wait, too, and a recheck request is left.
-- queue_id, group_key: the group. The caller holds its lock, see group_lock(), and took
-- it in an earlier statement, so that this routine sees what earlier holders did.
-- Result: none.
-- Locks: the jobs' rows. Rows that other transactions have locked are skipped.

create function readpast.admit_group(queue_id integer, group_key text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
	most  integer := (select q.group_limit from readpast.queue q
	                   where q.id = admit_group.queue_id);
	n     integer;
	first bigint[];
	got   bigint[];
begin
	if readpast.is_held(queue_id, group_key) then
		return;
	end if;
	n := case when most = 0 then readpast.admit_slice()
	          else greatest(readpast.open_slots(queue_id, group_key, most), 0) end;
	first := array(select w.job_id
	                 from readpast.group_wait w
	                where w.queue_id = admit_group.queue_id
	                  and w.group_key = admit_group.group_key
	                order by w.queue_id, w.group_key, w.priority, w.came
	                limit n);
	if first = '{}' then
		return;
	end if;
	got := readpast.lock_waiting(first);
	-- Only the jobs before the first one that is locked.
	got := array(select f.id
	               from unnest(first) with ordinality as f(id, number)
	              where f.number <= (
	                        select coalesce(min(l.number) - 1, cardinality(first))
	                          from unnest(first) with ordinality as l(id, number)
	                         where l.id <> all (got))
	              order by f.number);
	perform readpast.admit_jobs(got) where got <> '{}';
	if cardinality(got) < cardinality(first) or most = 0 and cardinality(got) = n then
		insert into readpast.group_recheck (queue_id, group_key)
		values (admit_group.queue_id, admit_group.group_key);
	end if;
end
$body$;
