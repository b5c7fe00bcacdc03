-- reserve: no job will be given an id up to :id, or a number of the line up to
-- :seq; 0: as it is. Others may draw while this looks: see copy/ids.c for
-- how the caller keeps clear of them.

select pg_catalog.setval('readpast.job_id_seq',
                         greatest(i.last_value, :id::bigint),
                         i.is_called or :id::bigint operator(pg_catalog.>) 0),
       pg_catalog.setval('readpast.line',
                         greatest(l.last_value, :seq::bigint),
                         l.is_called or :seq::bigint operator(pg_catalog.>) 0)
  from readpast.job_id_seq i, readpast.line l;
