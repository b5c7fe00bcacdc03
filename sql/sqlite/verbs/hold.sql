-- hold: hold a queue, or the group :group_key of it if that is not null, for :for_ms from
-- now. If :for_ms is null, the hold ends.

-- answer:
select id, id as queue_id, :group_key as group_key
  from readpast_queue
 where name = :queue;

-- include set_hold
