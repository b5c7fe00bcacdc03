-- probe: is there anything to do in a queue, and if not, when will there be? See the
-- routine probe().

select ready, running, due_in_ms, expires_in_ms, paused, suspects, behind, blocked
  from readpast.probe(:queue);
