-- turn: settle what is finished, then claim what will be started, in one commit.
-- :queues is a text[] literal, the first queue preferred; :max 0 claims nothing;
-- a first row whose :id is null settles nothing.
-- What a row says depends on its number: the routine tells.
-- The columns are those of the routine, in its order: others would be copied.

select number, result, settled, queue_id, queue, lane_id, lease_until,
       max_attempts, claim_no, id, seq, attempt, run_at, created_at, unique_key,
       kind, headers, payload, last_error, failures
  from readpast.turn(
           :queues::pg_catalog.text::pg_catalog.text[],
           :lease_ms, :worker_id, :worker, :max::bigint::integer,
           :at_once::bigint::integer, :holding::bigint::integer,
           coalesce(:id[]::bigint[], '{}'), coalesce(:claim_no[]::bigint[], '{}'),
           :verdict[], :delay_ms[], :error[],
           :joined::bigint::integer::boolean);
