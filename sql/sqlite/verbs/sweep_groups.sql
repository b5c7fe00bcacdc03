-- sweep_groups: admit waiting jobs of two kinds of groups, in slices of up to :max jobs.
-- The first kind are the groups whose hold has ended. The second kind are all groups
-- with waiting jobs, if the group limit of the queue was changed, or a copy has deleted
-- jobs. These groups are scanned by name, and the queue's column group_scan is the name
-- after which the scan goes on. If group_scan is null, or if the queue is paused, there is
-- no scan.
-- One call examines up to a thousand groups of each kind. If the scan then has more
-- groups, an answer with the id 0 is returned, and the caller must call again.

delete from readpast_group_hold
 where queue_id = :queue_id
   and group_key in (
       select h.group_key
         from readpast_queue q
        cross join readpast_group_hold h
        where q.id = :queue_id and h.queue_id = q.id and h.until <= :now
          and not (exists (select 1 from readpast_group_wait w
                            where w.queue_id = q.id
                              and w.group_key = h.group_key)
                   and (q.group_limit = 0
                        or q.group_limit
                           > (select count(*) from readpast_group_slot s
                               where s.queue_id = q.id
                                 and s.group_key = h.group_key)))
        limit 1000);

-- before: the group that precedes this group in the scan. group_scan is set to the value
-- of `before`, so the next call begins with this group again, in case more of its jobs
-- can be admitted. After the last group there is a row with a null group_key. This row
-- sets group_scan to null.
with recursive scanned(place, group_key, before) as (
  select 1, (select group_key from readpast_group_wait
              where queue_id = q.id and group_key > q.group_scan
              order by group_key limit 1), q.group_scan
    from readpast_queue q
   where q.id = :queue_id and q.group_scan is not null
     and q.paused_at is null
  union all
  select place + 1, (select w.group_key from readpast_group_wait w
                      where w.queue_id = :queue_id
                        and w.group_key > scanned.group_key
                      order by w.group_key limit 1), group_key
    from scanned
   where group_key is not null and place < 1000)
select group_key as group_key, null as before, 0 as scans, 0 as goes_on
  from (select group_key from readpast_group_hold
         where queue_id = :queue_id and until <= :now
         limit 1000)
union all
select group_key, iif(group_key is null, null, before), 1,
       place = 1000 and group_key is not null
  from scanned;

-- if @scans:
update readpast_queue set group_scan = @before where id = :queue_id;

-- If another program has deleted a job by its own SQL, the job's slot is still there.
-- if @scans:
delete from readpast_group_slot
 where queue_id = :queue_id and group_key = @group_key
   and job_id not in (select id from readpast_job);

-- If the limit was removed, one more job is offered than the caller takes. So the caller
-- stops here, and the scan does not go on before all jobs of the group are admitted.
select iif(q.group_limit = 0, :max + 1, max(0, q.group_limit -
-- include slots
       )) * not coalesce(
-- include is_held
       , 0) as free, q.group_limit > 0 as slotted, q.id as queue_id
  from readpast_queue q
 where q.id = :queue_id;

-- answer:
select id as id, id as next_id, priority as next_priority, came as next_came
  from (select job_id as id, priority, came
          from readpast_group_wait
         where queue_id = :queue_id and group_key = @group_key
         order by priority, came
         limit @free)
union all
select 0, 0, 0, 0
 where @goes_on;

-- the rest if @id:
-- include admit
