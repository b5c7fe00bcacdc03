-- why: tell why a live job waits, or which worker runs it. See the routine why().

select now, paused_at, pause_reason, ahead, suspect, workers, queue_workers,
       worker_id, host, pid, silent_ms, renewed, run_limit, running
  from readpast.why(:id, :most::bigint::integer);
