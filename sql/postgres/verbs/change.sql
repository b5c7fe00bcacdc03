-- change: change a live job that is not running. A null parameter leaves a value as it
-- is. A ready job keeps its place in the ready line, unless its queue or priority
-- changes. Then it goes to the end of its new lane. If :kind or :state is not null,
-- only a job of that kind or state is changed.
-- outcome: 0 changed, 1 a live job of the queue has the unique key, 2 there is no such
-- queue, 3 the payload is larger than the queue takes.

select c.id, c.outcome
  from readpast.change_live(
           :id, :kind, :state, :queue, :priority::bigint::integer,
           readpast.ms(:delay_ms), readpast.at_ms(:run_at),
           :max_attempts::bigint::integer) c;
