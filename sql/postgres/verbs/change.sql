-- change: change a live job that is not running; null leaves a thing as it is. It keeps
-- its place in the ready line unless its lane changes: then it goes to the end of the
-- new one. :kind, :state: if not null, only a job of that kind, in that state.
-- outcome: 0 changed, 1 a live job of the queue has the unique key, 2 no such queue,
-- 3 the payload is larger than the queue takes.

select c.id, c.outcome
  from readpast.change_live(
           :id, :kind, :state, :queue, :priority::bigint::integer,
           readpast.ms(:delay_ms), readpast.at_ms(:run_at),
           :max_attempts::bigint::integer) c;
