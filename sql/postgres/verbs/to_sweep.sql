-- to_sweep: list the queues that need a sweep. The routines of this database find them
-- without help, for all queues at once. So the result is two fixed rows: 0 in place of
-- a queue's id, and null, for which the caller runs sweep_rest.

select v.queue_id, false as dropped
  from (values (0), (null)) as v(queue_id);
