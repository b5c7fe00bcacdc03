-- to_sweep: list the queues that need a sweep. On PostgreSQL each routine of a sweep
-- handles all queues at once, so the result has only two fixed rows. The row with the
-- queue_id 0 means all queues. The row with the queue_id null makes the caller run
-- sweep_rest.

select v.queue_id, false as dropped
  from (values (0), (null)) as v(queue_id);
