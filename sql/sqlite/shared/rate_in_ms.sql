-- rate_in_ms: how many milliseconds it takes until the rate of the queue q lets a job
-- start. Null if the queue has no rate, or if a job may start now. A job may start if
-- fewer than rate_count jobs have started within the last rate_ms.

iif(q.rate_count = 0, null,
    (select (s.at_us + 1000 * q.rate_ms - :now_us + 999) / 1000
       from (select at_us, sum(jobs) over (order by at_us desc) as later
               from readpast_start
              where queue_id = q.id and at_us > :now_us - 1000 * q.rate_ms
                and at_us < :now_us + 1000 * q.rate_ms) s
      where s.later >= q.rate_count
      order by s.at_us desc
      limit 1))
