-- next_seq: the number with which the blocked job n goes to the end of its lane (the
-- ready jobs of one queue, priority and class).

1 + coalesce((select k.seq from readpast_job k
               where k.queue_id = n.queue_id and k.priority = n.priority
                 and k.class = n.class and k.seq is not null
               order by k.seq desc limit 1), 0)
