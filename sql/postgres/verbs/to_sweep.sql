-- to_sweep: what a sweep would change. Its routines find that for themselves, in
-- all queues at once: a 0 stands for those, and a null for sweep_rest.

select v.queue_id, false as dropped
  from (values (0), (null)) as v(queue_id);
