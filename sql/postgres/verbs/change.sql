-- change: change a live job that is not running. A new value that is null leaves the
-- old value as it is. If :kind or :state is not null, only a job of that kind or state
-- is changed. See the routine change_live().
-- outcome: 0: the job was changed. 1: another live job of the new queue has the same
-- unique key. 2: there is no such queue. 3: the payload is larger than the new queue's
-- limit. 4: the job would expire before it is due.

select c.id, c.outcome
  from readpast.change_live(
           :id, :kind, :state, :queue, :priority::bigint::integer,
           readpast.ms(:delay_ms), readpast.at_ms(:run_at),
           :max_attempts::bigint::integer) c;
