-- groups_to_probe: list groups of a queue of which jobs may wait for the group limit: the
-- first probe_most() groups that have waiting jobs, and the groups of the first
-- probe_most() slots. Both are listed, because thousands of groups may wait without a
-- slot, for the end of a hold, and thousands of groups may have a slot and no waiting job.
-- queue_id: the queue.
-- Rows: the names. A name may occur twice.
-- Locks: none.

create function readpast.groups_to_probe(queue_id integer) returns table (name text)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
(with recursive waiting(name, number) as (
    (select w.group_key, 1
       from readpast.group_wait w
      where w.queue_id = groups_to_probe.queue_id
      order by w.queue_id, w.group_key
      limit 1)
     union all
    select n.group_key, w.number + 1
      from waiting w
     cross join lateral (
           select n.group_key
             from readpast.group_wait n
            where n.queue_id = groups_to_probe.queue_id and n.group_key > w.name
            order by n.queue_id, n.group_key
            limit 1) n
     where w.number < readpast.probe_most())
select w.name from waiting w)
union all
(select s.group_key
   from readpast.group_slot s
  where s.queue_id = groups_to_probe.queue_id
  limit readpast.probe_most())
$body$;
