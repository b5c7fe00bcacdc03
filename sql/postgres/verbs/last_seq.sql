-- last_seq: return the last number that was drawn from the sequence `line` (the numbers
-- of the ready line).

select case when is_called then last_value else 0 end as seq
  from readpast.line;
