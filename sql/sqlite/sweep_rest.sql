-- sweep_rest: forget workers not seen for an hour, and tallies older than a
-- minute; :max rows at the most.

-- answer:
select id, null as queue_id, null as second
  from readpast_worker
 where seen_at < :now - 3600000
union all
select 0, queue_id, second
  from readpast_tally
 where second < :now / 1000 - 60
 limit :max;

delete from readpast_worker where id = @id;

delete from readpast_tally where queue_id = @queue_id and second = @second;
