-- to_sweep: list the queues that need a sweep. For other databases this is a list of
-- queues. In PostgreSQL each routine of a sweep handles all queues at once. So the
-- result has only two fixed rows. The row with 0 means all queues. The row with null
-- makes the caller run sweep_rest.

select v.queue_id, false as dropped
  from (values (0), (null)) as v(queue_id);
