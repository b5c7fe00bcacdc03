-- is_held: 1 if the group @group_key of the queue q is held now.

(q.holds_until > :now
 and exists (select 1 from readpast_group_hold
              where queue_id = q.id and group_key = @group_key
                and until > :now))
