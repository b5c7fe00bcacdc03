-- room: how many more jobs the group :group_key of the queue q can have in the ready
-- line. It is 0 if the group is held or if jobs of the group wait already. If the queue
-- has no group limit, it is the largest number.

case when q.holds_until > :now
          and exists (select 1 from readpast_group_hold
                       where queue_id = q.id and group_key = :group_key
                         and until > :now) then 0
     when q.group_limit = 0 then 9223372036854775807
     when exists (select 1 from readpast_group_wait
                   where queue_id = q.id and group_key = :group_key) then 0
     else max(0, q.group_limit - (select count(*) from readpast_group_slot
                                   where queue_id = q.id
                                     and group_key = :group_key)) end
