-- started: the number of jobs of the queue q that were started within its rate_ms. Times
-- in the future do not count. They were stored before the clock was set back.

(select coalesce(sum(s.jobs), 0) from readpast_start s
  where s.queue_id = q.id and s.at_us > :now_us - 1000 * q.rate_ms
    and s.at_us < :now_us + 1000 * q.rate_ms)
