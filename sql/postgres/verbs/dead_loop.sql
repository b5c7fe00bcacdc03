-- dead_loop: would a copy of a job that dies in the queue come back to it, if the
-- queue's dead_to were :dead_to? Then one bad job would be copied again and again
-- without end.

select readpast.is_dead_loop(:queue, :dead_to) as loops;
