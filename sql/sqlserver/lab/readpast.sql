-- readpast: the read locks the row, and skips rows that others have locked
--
-- READPAST beside UPDLOCK lets the read skip locked rows instead of waiting for them.
-- No session waits, and no row is taken twice. The row stays locked while the job runs,
-- and is deleted at the commit. If a session dies, its transaction is rolled back and
-- its row is free at once. The price: a transaction stays open while the job runs,
-- which keeps the log from being truncated. Attempts are not counted, so a job that
-- kills its worker kills the next worker, too.
--
-- The worker's loop counts the rows and runs again unless the count is 0 (step 4). The
-- count skips rows with an exclusive lock. But it includes rows with an update lock,
-- because an update lock lets readers pass. So after a count above 0 the worker may
-- find no row that it can lock (step 6). Then the loop counts again.
--
-- Open three sessions, A, B and C, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make the schema that the last step removes.
create schema readpast_lab;
go

-- Step 2, session A: make the queue, with two jobs.
create table readpast_lab.queue (
	queueid    int identity(1, 1) not null primary key,
	someaction nvarchar(100) not null
);
insert into readpast_lab.queue (someaction)
values (N'first'), (N'second');
go

-- Step 3, session A: begin, and lock the first row that nobody has locked.
-- Expected: 1, first
begin transaction;
select top (1) queueid, someaction
  from readpast_lab.queue with (updlock, readpast)
 order by queueid;
go

-- Step 4, session B: is there a row?
-- Expected: 2
select count(*) as jobs from readpast_lab.queue with (readpast);
go

-- Step 5, session B: begin, and lock the first row that nobody has locked.
-- Expected: 2, second
begin transaction;
select top (1) queueid, someaction
  from readpast_lab.queue with (updlock, readpast)
 order by queueid;
go

-- Step 6, session C: all rows are locked, so the read finds no row, and does not wait.
-- Expected: no row
select top (1) queueid, someaction
  from readpast_lab.queue with (updlock, readpast)
 order by queueid;
go

-- Step 7, session B: B has finished its job before A has finished its own. Delete the
-- row of B, and commit.
-- Expected: 1
delete from readpast_lab.queue where queueid = 2;
select @@rowcount as deleted;
commit;
go

-- Step 8, session A: A fails. A rollback, or the end of session A, frees the row of A.
rollback;
go

-- Step 9, session B: the first row is free at once.
-- Expected: 1, first
begin transaction;
select top (1) queueid, someaction
  from readpast_lab.queue with (updlock, readpast)
 order by queueid;
delete from readpast_lab.queue where queueid = 1;
commit;
go

-- Step 10, session A: remove the table and the schema.
drop table readpast_lab.queue;
drop schema readpast_lab;
go
