-- reserve: make sure that each new job gets an id larger than :id. On SQLite there is
-- no sequence for the numbers in a ready line, so :seq is not used. A new job's number
-- is one more than the largest number of its lane.

insert into sqlite_sequence (name, seq)
select 'readpast_job', 0
 where not exists (select 1 from sqlite_sequence where name = 'readpast_job');

update sqlite_sequence set seq = max(seq, :id) where name = 'readpast_job';
