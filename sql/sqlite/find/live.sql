-- live: return the ids of the live jobs that match a filter. The running jobs come first,
-- then those that are due in the order in which they will be claimed, then those that
-- wait for their group, and then the scheduled ones. The due jobs of a queue count as
-- blocked if no job of the queue may start now.
-- The query examines the first :looks jobs of each state. If a state has more jobs than
-- that, the result ends with a row without an id. If :key is not null, the query finds
-- the job by the index of unique keys instead.
-- :states is a bit set. The bit 1 << N selects the state with the number N. If :before
-- is not null, only jobs that were enqueued at or before this time match. If :queues, a
-- JSON list of names, is not null, only jobs of these queues are examined.
-- Each part joins readpast_queue itself, because SQLite then knows that the indexes
-- return the rows in the order of the part. If the part joined `queue`, SQLite would
-- sort all jobs of the part before the limit applies.

with queue(id, due_state) as materialized (
  select q.id, iif(s.stopped, 7, 2)
    from readpast_queue q
    join readpast_stop s on s.id = q.id
   where (:queue is null or q.name = :queue)
     and (:queues is null or q.name in (select value from json_each(:queues)))),
looked(part, state, id) as materialized (
  select * from (
    select 1, 3, j.id
      from readpast_queue q
     cross join readpast_job j indexed by readpast_job_held
        on j.queue_id = q.id and j.lease_until is not null
     where :states & 8 and :key is null and q.id in (select id from queue)
     order by q.id, j.lease_until
     limit :looks + 1)
  union all
  select * from (
    select 2, null, j.id
      from readpast_queue q
     cross join readpast_job j indexed by readpast_job_line
        on j.queue_id = q.id and j.seq is not null
     where :key is null
       and q.id in (select id from queue where :states & (1 << due_state))
     order by q.id, j.priority, j.class, j.seq
     limit :looks + 1)
  union all
  select * from (
    select 3, null, j.id
      from readpast_queue q
     cross join readpast_job j indexed by readpast_job_due
        on j.queue_id = q.id and j.seq is null and j.lease_until is null
       and j.run_at <= :now_ms and j.run_at < 9223372036854775807
     where :key is null
       and q.id in (select id from queue where :states & (1 << due_state))
     order by q.id, j.run_at
     limit :looks + 1)
  union all
  select * from (
    select 4, 7, w.job_id
      from readpast_queue q
     cross join readpast_group_wait w
        on w.queue_id = q.id
     where :states & 128 and :key is null and q.id in (select id from queue)
     order by q.id, w.group_key, w.priority, w.came
     limit :looks + 1)
  union all
  select * from (
    select 5, 1, j.id
      from readpast_queue q
     cross join readpast_job j indexed by readpast_job_due
        on j.queue_id = q.id and j.seq is null and j.lease_until is null
       and j.run_at < 9223372036854775807 and j.run_at > :now_ms
     where :states & 2 and :key is null and q.id in (select id from queue)
     order by q.id, j.run_at
     limit :looks + 1)
  union all
  select 6, state, id
    from (select case when j.lease_until is not null then 3
                      when j.run_at = 9223372036854775807 then 7
                      when j.seq is not null or j.run_at <= :now_ms
                      then q.due_state
                      else 1 end as state, j.id
            from queue q
           cross join readpast_job j indexed by readpast_job_unique
              on j.queue_id = q.id and j.unique_key = :key)
   where :states & (1 << state))
select id, state
  from (select l.part, coalesce(l.state, q.due_state) as state, j.id,
               iif(l.part in (2, 4), j.queue_id, null) as queue_id,
               iif(l.part = 4, j.group_key, null) as group_key,
               iif(l.part in (2, 4), j.priority, null) as priority,
               iif(l.part = 2, j.class, null) as class,
               case l.part when 1 then j.claim_no
                           when 2 then j.seq
                           when 4 then j.came
                           else j.run_at end as place
          from looked l
         cross join readpast_job j on j.id = l.id
         cross join queue q on q.id = j.queue_id
         where (:kind is null or j.kind = :kind)
           and (:group is null or j.group_key = :group)
           and (:error is null or instr(j.last_error, :error) > 0)
           and (:before is null or j.created_at <= :before)
        union all
        select 7, null, null, null, null, null, null, null
         where exists (select 1 from looked
                        where part < 6
                        group by part
                       having count(*) > :looks))
 order by part, queue_id, group_key, priority, class, place, id;
