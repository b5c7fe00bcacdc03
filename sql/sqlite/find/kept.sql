-- kept: return the ids of the kept jobs that match a filter, by state, newest first.
-- The query examines the newest :looks jobs of each state. If a state has more than
-- :looks jobs, the result ends with a row without an id.
-- :states is a bit set. The bit 1 << N selects the state with the number N. If :before
-- is not null, only jobs that were enqueued at or before this time match. If :queues, a
-- JSON list of names, is not null, only jobs of these queues are examined.
-- In each queue SQLite reads the newest jobs first, and goes on to the next queue at the
-- first job that is older than the :looks newest jobs that it has found so far.

with looked(state, id) as materialized (
  select * from (
    select 4, a.id
      from readpast_queue q
     cross join readpast_archive a indexed by readpast_archive_state
        on a.queue_id = q.id and a.state = 4
     where :states & 16 and (:queue is null or q.name = :queue)
       and (:queues is null or q.name in (select value from json_each(:queues)))
     order by a.finished_at desc, a.id desc
     limit :looks + 1)
  union all
  select * from (
    select 5, a.id
      from readpast_queue q
     cross join readpast_archive a indexed by readpast_archive_state
        on a.queue_id = q.id and a.state = 5
     where :states & 32 and (:queue is null or q.name = :queue)
       and (:queues is null or q.name in (select value from json_each(:queues)))
     order by a.finished_at desc, a.id desc
     limit :looks + 1)
  union all
  select * from (
    select 6, a.id
      from readpast_queue q
     cross join readpast_archive a indexed by readpast_archive_state
        on a.queue_id = q.id and a.state = 6
     where :states & 64 and (:queue is null or q.name = :queue)
       and (:queues is null or q.name in (select value from json_each(:queues)))
     order by a.finished_at desc, a.id desc
     limit :looks + 1))
select id, state
  from (select a.id, l.state, a.finished_at
          from looked l
         cross join readpast_archive a on a.id = l.id
         where (:kind is null or a.kind = :kind)
           and (:group is null or a.group_key = :group)
           and (:key is null or a.unique_key = :key)
           and (:error is null or instr(a.last_error, :error) > 0)
           and (:before is null or a.created_at <= :before)
        union all
        select null, null, null
         where exists (select 1 from looked
                        group by state
                       having count(*) > :looks))
 order by id is null, state, finished_at desc, id desc;
