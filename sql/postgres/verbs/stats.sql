-- stats: return the columns of the routine stats() for the queue :queue. If :queue is
-- null, return them for all queues, sorted by name.

select name as queue, paused, pause_reason, scheduled, ready, running, done,
       dead, cancelled, oldest_ready_ms, longest_running_ms, workers, done_recently,
       failed_recently, scheduled_at_least, ready_at_least, running_at_least, blocked,
       blocked_at_least, held_until, done_total, failed_total, dead_total
  from readpast.stats(:queue);
