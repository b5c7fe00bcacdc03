-- run_at: the real run_at of the job j. For a blocked job it is in readpast_group_wait.

iif(j.run_at = 9223372036854775807,
    (select w.run_at from readpast_group_wait w
      where w.queue_id = j.queue_id and w.group_key = j.group_key
        and w.priority = j.priority and w.came = j.came and w.job_id = j.id),
    j.run_at)
