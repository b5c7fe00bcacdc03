-- stats: show the numbers of the queue :queue, or of all queues, by name, if :queue is
-- null. See the routine stats().

select name as queue, paused, pause_reason, scheduled, ready, running, done,
       dead, cancelled, oldest_ready_ms, longest_running_ms, workers, done_recently,
       failed_recently, scheduled_at_least, ready_at_least, running_at_least
  from readpast.stats(:queue);
