-- stats: one queue, or all by name (:queue null), in numbers.

select name as queue, paused, scheduled, ready, running, done, dead, cancelled,
       oldest_ready_ms, longest_running_ms, workers, done_recently,
       failed_recently
  from readpast.stats(:queue);
