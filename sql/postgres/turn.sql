-- turn: settle what is finished, then claim what will be started, in one commit.
-- :queues is a text[] literal, the first queue preferred; :max 0 claims nothing;
-- a first row whose :id is null settles nothing.
-- number >= 1: that verdict's result (0, or why it was refused), the state that
-- the job is settled in, its queue. number 0: `result` of the verdicts that have
-- no row are done, jobs of one queue. number null: a claimed job, in claim order,
-- but for what the caller knows; or, with no id, a suspect that was passed over.
-- The columns are those of the routine, in its order: others would be copied.

select number, result, settled, queue_id, id, queue, priority, attempt,
       max_attempts, claim_no, run_at, created_at, lease_until, unique_key, kind,
       headers, payload, last_error, failures, suspect
  from readpast.turn(
           :queues::text::text[], :lease_ms::bigint, :worker_id::bigint,
           :worker::text, :max::bigint::integer, :at_once::bigint::integer,
           :holding::bigint::integer,
           case when :id::bigint is null then '{}' else :id[]::bigint[] end,
           case when :id::bigint is null then '{}'
                else :claim_no[]::bigint[] end,
           :verdict[]::bigint[], :delay_ms[]::bigint[], :error[]::text[]);
