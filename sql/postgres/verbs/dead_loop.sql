-- dead_loop: would the value :dead_to for the queue's setting dead_to lead back to the
-- queue itself, perhaps by way of other queues? If so, a job could die and be copied
-- again and again without end.

select readpast.is_dead_loop(:queue, :dead_to) as loops;
