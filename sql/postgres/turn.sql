-- turn: settle what is finished, then claim what will be started, in one commit.
-- :queues is a text[] literal, the first queue preferred; :max 0 claims nothing;
-- a first row whose :id is null settles nothing.
-- number >= 1: that verdict's result (0, or why it was refused), the state that
-- the job is settled in, its queue. number 0: `result` of the verdicts that have
-- no row are done, jobs of one queue. number null: a claimed job, in claim order,
-- but for what the caller knows; or, with no id, a suspect that was passed over.

select number, result, settled, queue_id, id, queue, null::integer as state,
       priority, attempt, max_attempts, claim_no, null::text as worker, run_at,
       created_at, claimed_at, lease_until, null::timestamptz as finished_at,
       unique_key, kind, headers::text, payload, last_error, failures::text,
       suspect
  from readpast.turn(
           :queues::text::text[], :lease_ms::bigint, :worker_id::bigint,
           :worker::text, :max::bigint::integer, :at_once::bigint::integer,
           :holding::bigint::integer,
           case when :id::bigint is null then '{}' else :id[]::bigint[] end,
           :claim_no[]::bigint[], :verdict[]::bigint[], :delay_ms[]::bigint[],
           :error[]::text[]);
