-- last_id: return the last id that was given to a job.

select case when is_called then last_value else 0 end as id
  from readpast.job_id_seq;
