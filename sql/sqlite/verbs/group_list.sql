-- group_list: return up to :max groups of a queue, sorted by name. The list starts
-- after the name :after. A group is returned if jobs of the group have slots, if jobs
-- wait for the group, or if the group has a hold. If :blocked is 1, a group is returned
-- only if one of its jobs is counted as waiting.
-- ready and running count the jobs that have a slot. A job that waits for its retry has
-- a slot, too, but is neither ready nor running. waiting counts up to :most jobs that
-- wait for the group. waiting_at_least is 1 if more than :most jobs wait. If no job of the
-- queue may start now, ready jobs are counted as waiting.
-- If the queue has no group limit, slots that remain from an earlier limit do not count.

-- answer:
with recursive q as materialized (
  select q.id, iif(q.group_limit > 0, q.id, null) as slots_of,
         s.stopped > 0 as stopped
    from readpast_queue q
    join readpast_stop s on s.id = q.id
   where q.name = :queue),
named(place, name) as (
  select 0, :after
  union all
  select place + 1,
         (select min(name)
            from (select (select group_key from readpast_group_wait
                           where queue_id = (select id from q)
                             and group_key > named.name
                           order by group_key limit 1) as name
                  union all
                  select (select group_key from readpast_group_slot
                           where not :blocked
                             and queue_id = (select slots_of from q)
                             and group_key > named.name
                           order by group_key limit 1)
                  union all
                  select (select s.group_key
                            from readpast_group_slot s
                           cross join readpast_job j
                           where :blocked
                             and s.queue_id = (select slots_of from q
                                                where stopped)
                             and s.group_key > named.name
                             and j.id = s.job_id and j.seq is not null
                           order by s.group_key limit 1)
                  union all
                  select (select group_key from readpast_group_hold
                           where not :blocked
                             and queue_id = (select id from q)
                             and group_key > named.name and until > :now
                           order by group_key limit 1)))
    from named
   where name is not null and place < :max),
counted as materialized (
  select n.name, q.id as queue_id,
         (select count(*)
            from (select 1 from readpast_group_wait
                   where queue_id = q.id and group_key = n.name
                   limit :most + 1)) as waiting,
         (select count(*)
            from readpast_group_slot s
           cross join readpast_job j
           where s.queue_id = q.slots_of and s.group_key = n.name
             and j.id = s.job_id and j.seq is not null) as ready,
         (select count(*)
            from readpast_group_slot s
           cross join readpast_job j
           where s.queue_id = q.slots_of and s.group_key = n.name
             and j.id = s.job_id and j.lease_until is not null) as running
    from named n
   cross join q
   where n.place > 0 and n.name is not null)
select c.name, min(c.waiting + q.stopped * c.ready, :most) as waiting,
       iif(q.stopped, 0, c.ready) as ready, c.running as running,
       (select until from readpast_group_hold
         where queue_id = c.queue_id and group_key = c.name
           and until > :now) as held_until,
       c.waiting + q.stopped * c.ready > :most as waiting_at_least
  from counted c
 cross join q
 order by c.name;
