-- count_dead: count jobs that died in the table `tally`.
-- queue_ids: the queue of each job.
-- Locks: none.

create function readpast.count_dead(queue_ids integer[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $body$
insert into readpast.tally (second, queue_id, dead)
select extract(epoch from clock_timestamp())::bigint, d.id, count(*)
  from unnest(queue_ids) as d(id)
 group by d.id
$body$;
