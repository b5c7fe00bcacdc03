-- reserve: no job will be given an id up to :id. (Lines need nothing here: who
-- comes is one behind the last.)

insert into sqlite_sequence (name, seq)
select 'readpast_job', 0
 where not exists (select 1 from sqlite_sequence where name = 'readpast_job');

update sqlite_sequence set seq = max(seq, :id) where name = 'readpast_job';
