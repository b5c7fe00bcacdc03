-- slots: how many jobs of the group @group_key of the queue q have a slot.

(select count(*) from readpast_group_slot
  where queue_id = q.id and group_key = @group_key)
