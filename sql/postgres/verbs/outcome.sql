-- outcome: tell whether jobs have ended, and how. See the routine outcomes().

select number, state, queue_id, queue, claim_no, is_open
  from readpast.outcomes(:id[]::bigint[], :queue_id[]::bigint[]);
