-- why: tell why a live job waits, or which worker runs it. See the routine why().

select now, paused_at, pause_reason, ahead, suspect, workers, queue_workers,
       worker_id, host, pid, silent_ms, renewed, run_limit, running, held_until,
       group_held_until, group_limit, group_busy, group_ahead, group_waiting, group_next,
       rate_count, rate_ms, rate_in_ms
  from readpast.why(:id, :most::bigint::integer);
