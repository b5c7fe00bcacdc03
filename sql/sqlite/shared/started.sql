-- started: the number of jobs of the queue q that were started within the last rate_ms.
-- Times far in the future, which were stored before the clock was set back, do not
-- count.

(select coalesce(sum(s.jobs), 0) from readpast_start s
  where s.queue_id = q.id and s.at_us > :now_us - 1000 * q.rate_ms
    and s.at_us < :now_us + 1000 * q.rate_ms)
