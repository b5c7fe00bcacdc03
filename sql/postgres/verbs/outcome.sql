-- outcome: how jobs ended. See the routine outcomes().

select number, state, queue_id, queue, claim_no, is_open
  from readpast.outcomes(:id[]::bigint[], :queue_id[]::bigint[]);
