-- updlock: the read locks the row until the job is done
--
-- UPDLOCK makes the read take an update lock. A row can have only one such lock, and
-- the transaction keeps the lock until the transaction ends. Two sessions never have
-- the same row, but both sessions try to lock the first row. The second session waits
-- until the first one has done its whole job and deleted the row. Then the second
-- session finds the next row. However many sessions there are, only one works at a
-- time.
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

-- Step 3, session A: begin, and lock the first row.
-- Expected: 1, first
begin transaction;
select top (1) queueid, someaction
  from readpast_lab.queue with (updlock)
 order by queueid;
go

-- Step 4, session B: begin, and try to lock the first row.
-- Waits: until step 5.
-- Expected: 2, second
begin transaction;
select top (1) queueid, someaction
  from readpast_lab.queue with (updlock)
 order by queueid;
go

-- Step 5, session A: A has done the job. Delete its row, and commit.
-- Expected: 1
delete from readpast_lab.queue where queueid = 1;
select @@rowcount as deleted;
commit;
go

-- Step 6, session B: B got the second row only after its wait, and has done the job of
-- this row.
-- Expected: 1
delete from readpast_lab.queue where queueid = 2;
select @@rowcount as deleted;
commit;
go

-- Step 7, session A: each job was done once, one after the other.
-- Expected: 1
select count(*) as jobs from readpast_lab.queue;
go

-- Step 8, session A: remove the table and the schema.
drop table readpast_lab.queue;
drop schema readpast_lab;
go
