-- why: what a live job waits for. See the routine.

select now, paused_at, pause_reason, ahead, suspect, workers, queue_workers,
       worker_id, host, pid, silent_ms, renewed
  from readpast.why(:id, :most::bigint::integer);
