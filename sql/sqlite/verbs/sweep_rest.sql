-- sweep_rest: delete at most :max rows that are no longer needed: payloads of completed
-- jobs, workers that have sent no heartbeat for an hour, counts (tallies) older than a
-- minute, which are added to second 0, and unique keys that are free again.
-- If :payloads_only is 1, only payloads are deleted: to find the other rows, the verb
-- reads whole tables.
-- A payload is not deleted if a live or kept job has its id. A copy from another
-- database may have inserted the completed job once more.

-- answer:
select 0 as id, null as queue_id, null as second, id as gone,
       null as free_key
  from readpast_gone
union all
select id, null, null, null, null
  from readpast_worker
 where not :payloads_only and seen_at < :now - 3600000
union all
select 0, queue_id, second, null, null
  from readpast_tally
 where not :payloads_only and second > 0 and second < :now / 1000 - 60
union all
select 0, queue_id, null, null, unique_key
  from readpast_taken_key
 where not :payloads_only and until <= :now
 limit :max;

-- if @gone:
delete from readpast_payload
 where id = @gone
   and not exists (select 1 from readpast_job where id = @gone)
   and not exists (select 1 from readpast_archive where id = @gone);
-- if @gone:
delete from readpast_gone where id = @gone;

delete from readpast_worker where id = @id;

-- if @second:
insert into readpast_tally (queue_id, second, done, failed, dead)
select t.queue_id, 0, t.done, t.failed, t.dead
  from readpast_tally t
  join readpast_queue q on q.id = t.queue_id
 where t.queue_id = @queue_id and t.second = @second
on conflict do update set done = done + excluded.done,
                          failed = failed + excluded.failed,
                          dead = dead + excluded.dead;

delete from readpast_tally where queue_id = @queue_id and second = @second;

delete from readpast_taken_key
 where queue_id = @queue_id and unique_key = @free_key;
