-- naive: read the first row, do the job, delete the row
--
-- This is the first queue that most people write. A transaction does not help: under
-- READ COMMITTED the shared lock of a read ends with the read. So both sessions read
-- the same first row, and both do its job. The session that deletes first deletes the
-- row. The other session deletes no row, and does not notice this.
--
-- Open two sessions, A and B, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make the schema that the last step removes.
create schema readpast_lab;
go

-- Step 2, session A: make the queue, with three jobs.
create table readpast_lab.queue (
	queueid    int identity(1, 1) not null primary key,
	someaction nvarchar(100) not null
);
insert into readpast_lab.queue (someaction)
values (N'first'), (N'second'), (N'third');
go

-- Step 3, session A: begin, and read the first row.
-- Expected: 1, first
begin transaction;
select top (1) queueid, someaction from readpast_lab.queue order by queueid;
go

-- Step 4, session B: begin, and read the first row while A does its job.
-- Expected: 1, first
begin transaction;
select top (1) queueid, someaction from readpast_lab.queue order by queueid;
go

-- Step 5, session A: A has done the job. Delete its row, and commit.
-- Expected: 1
delete from readpast_lab.queue where queueid = 1;
select @@rowcount as deleted;
commit;
go

-- Step 6, session B: B has done the same job. The delete of B finds no row.
-- Expected: 0
delete from readpast_lab.queue where queueid = 1;
select @@rowcount as deleted;
commit;
go

-- Step 7, session A: the row is gone, and its job was done twice.
-- Expected: 2
select count(*) as jobs from readpast_lab.queue;
go

-- Step 8, session A: remove the table and the schema.
drop table readpast_lab.queue;
drop schema readpast_lab;
go
