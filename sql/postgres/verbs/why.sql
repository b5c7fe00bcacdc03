-- why: how a live job stands among the others. See the routine.

select now, paused_at, ahead, suspect, workers, queue_workers, worker_id, host,
       pid, silent_ms, renewed
  from readpast.why(:id, :most::bigint::integer);
