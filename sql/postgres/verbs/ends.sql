-- ends: return the last id that was given to a job, and the last number that was drawn
-- from the sequence `line` (the numbers of the ready line).

select case when i.is_called then i.last_value else 0 end as last_id,
       case when l.is_called then l.last_value else 0 end as last_seq
  from readpast.job_id_seq i, readpast.line l;
