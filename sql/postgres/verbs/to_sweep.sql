-- to_sweep: what a sweep has to do. The routines of this database find that themselves,
-- for all queues at once. So the answer is 0 in place of a queue's id, and null for
-- sweep_rest.

select v.queue_id, false as dropped
  from (values (0), (null)) as v(queue_id);
