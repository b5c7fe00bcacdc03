-- is_full: 1 if a new job of the group @group_key of the queue q has to wait, because other
-- jobs of the group wait or use all slots (the rights to run).

(exists (select 1 from readpast_group_wait
          where queue_id = q.id and group_key = @group_key)
 or q.group_limit <=
-- include slots
)
