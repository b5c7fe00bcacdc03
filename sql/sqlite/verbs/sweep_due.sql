-- sweep_due: make up to :max due jobs of a queue ready. (A job is due if it is
-- scheduled and its run_at has passed.) Each job goes to the end of its lane (the ready
-- jobs of one queue, priority and class). A job that has a group may have to wait for
-- the group instead. So the jobs that became due first are chosen, and then the jobs
-- enter their groups in the order of their priority.

select q.id as queue_id, q.group_limit > 0 or q.holds_until > :now as is_grouped
  from readpast_queue q
 where q.id = :queue_id;

-- answer:
select j.id, j.priority, iif(j.class = 1, 1, 2) as class,
       j.group_key,
       @is_grouped and j.group_key is not null as enters
  from (select id, priority, class, group_key, run_at
          from readpast_job
         where queue_id = :queue_id and seq is null and lease_until is null
           and run_at <= :now and run_at < 9223372036854775807
         order by run_at, id
         limit :max) j
 order by j.priority, j.run_at, j.id;

update readpast_job
   set class = @class,
       seq = 1 + coalesce((select k.seq from readpast_job k
                            where k.queue_id = :queue_id
                              and k.priority = @priority
                              and k.class = @class and k.seq is not null
                            order by k.seq desc limit 1), 0)
 where id = @id;

-- the rest if @enters:
-- include enter_group
