-- dead_loop: would a copy of a job that dies in the queue come back to this queue, if
-- the queue's dead_to were :dead_to? If so, a job could die and be copied again and
-- again without end.

select readpast.is_dead_loop(:queue, :dead_to) as loops;
