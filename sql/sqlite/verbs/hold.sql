-- hold: hold a queue for :for_ms from now. If :group_key is not null, hold only this
-- group of the queue. If :for_ms is null, end the hold.

-- answer:
select id, id as queue_id, :group_key as group_key
  from readpast_queue
 where name = :queue;

-- include set_hold
