-- last_seq: return the largest number of a ready job in its lane (the ready jobs of one
-- queue, priority and class), or 0. The statement reads the whole index of ready jobs.

-- answer:
select coalesce(max(seq), 0) as seq from readpast_job where seq is not null;
