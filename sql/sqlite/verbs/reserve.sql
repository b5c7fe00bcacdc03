-- reserve: make sure that each new job gets an id larger than :id.
-- The parameter :seq is used only on PostgreSQL, where a sequence has the numbers of the
-- ready line. On SQLite a new job's number is one more than the largest of its lane.

insert into sqlite_sequence (name, seq)
select 'readpast_job', 0
 where not exists (select 1 from sqlite_sequence where name = 'readpast_job');

update sqlite_sequence set seq = max(seq, :id) where name = 'readpast_job';
