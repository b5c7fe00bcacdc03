-- reserve: move the sequence of ids up to :id, and the sequence of the ready line up to
-- :seq. After that each new job gets an id larger than :id and a number larger than
-- :seq. If :id or :seq is 0, that sequence stays as it is. Other sessions may draw
-- numbers after the caller has read the ends of the sequences. So the caller does not
-- use the numbers right after these ends, but leaves a gap; see CLEAR in copy/ids.c.

select pg_catalog.setval('readpast.job_id_seq',
                         greatest(i.last_value, :id::bigint),
                         i.is_called or :id::bigint operator(pg_catalog.>) 0),
       pg_catalog.setval('readpast.line',
                         greatest(l.last_value, :seq::bigint),
                         l.is_called or :seq::bigint operator(pg_catalog.>) 0)
  from readpast.job_id_seq i, readpast.line l;
