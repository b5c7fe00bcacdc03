-- purge: delete a job if it is in the state :state and of the kind :kind (null: any
-- kind). This verb does not distinguish the states 2 (ready) and 7 (blocked): either
-- number means that the job is due and is not running.

-- answer:
select id, 1 as live, 0 as kept, payload < '' as apart, queue_id,
       group_key, group_key is not null as leaves,
       run_at = 9223372036854775807 as blocked, priority, came
  from readpast_job
 where id = :id and lease_until is null
   and iif(seq is not null or run_at <= :now
           or run_at = 9223372036854775807, 2, 1) = iif(:state = 7, 2, :state)
   and (:kind is null or kind = :kind)
union all
select id, 0, 1, payload < '', queue_id, null, 0, 0, 0, 0
  from readpast_archive
 where id = :id and state = :state and (:kind is null or kind = :kind);

-- if @live:
delete from readpast_job where id = @id;
-- if @kept:
delete from readpast_archive where id = @id;
-- if @apart:
delete from readpast_payload where id = @id;

-- the rest if @leaves:
-- include leave_group
