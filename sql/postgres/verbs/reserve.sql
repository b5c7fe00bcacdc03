-- reserve: move both sequences on. After that no new job gets an id up to :id or a
-- number of the ready line up to :seq. 0 leaves a sequence as it is. Other sessions may
-- draw numbers at the same time. copy/ids.c says how the caller copes with that.

select pg_catalog.setval('readpast.job_id_seq',
                         greatest(i.last_value, :id::bigint),
                         i.is_called or :id::bigint operator(pg_catalog.>) 0),
       pg_catalog.setval('readpast.line',
                         greatest(l.last_value, :seq::bigint),
                         l.is_called or :seq::bigint operator(pg_catalog.>) 0)
  from readpast.job_id_seq i, readpast.line l;
