-- settle_and_claim: settle finished jobs, and then claim other jobs, in one commit.
-- :queues is a text[] literal. Jobs of the first queue are claimed first. If :max is 0,
-- no job is claimed. If :id of the first row is null, no job is settled.
-- In the result `number` says whether a row is a verdict or a job, see the routine
-- settle_and_claim(). The columns must be in the order in which the routine returns
-- them. With another order the server would copy each row.

select number, result, state as settled, queue_id, queue, lane_id, seq, suspect, id,
       claim_no, payload, kind, headers, priority, attempt, max_attempts,
       lease_until, run_at, created_at, unique_key, last_error, failures,
       group_key, extra
  from readpast.settle_and_claim(
           :queues::pg_catalog.text::pg_catalog.text[],
           :lease_ms, :worker_id, :worker, :max::bigint::integer,
           :at_once::bigint::integer, :holding::bigint::integer,
           coalesce(:id[]::bigint[], '{}'), coalesce(:claim_no[]::bigint[], '{}'),
           :verdict[], :delay_ms[], :error[], :result[], :progress[],
           :joined::bigint::integer::boolean);
