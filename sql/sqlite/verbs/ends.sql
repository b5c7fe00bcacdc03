-- ends: the last id that was given to a job, and the last number of a line.
-- Here a line has numbers of its own, each at most one more than the last, so
-- none is beyond the ids but where jobs came into line time and again: good
-- enough, for nothing rests on it.

-- answer:
select coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_id,
       coalesce((select seq from sqlite_sequence where name = 'readpast_job'),
                0) as last_seq;
