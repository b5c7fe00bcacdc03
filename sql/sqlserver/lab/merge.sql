-- merge: one MERGE under a table lock claims the first row, or deletes it
--
-- Each call runs one atomic statement, which looks at the first row. If the row names
-- an agent, the statement deletes the row, because the job counts as processed.
-- Otherwise the statement writes the caller into the row as its agent, and the caller
-- gets the job. So each row is visited twice. Each visit locks the whole table, so
-- claims, deletions and inserts wait for each other (step 8). The trap: an agent in the
-- row says that a session took the job, not that the job is done. The next visit
-- deletes the row of a session that is still working, or that has died (step 5).
--
-- In the original of this technique, three consumers poll every 100 ms and one producer
-- inserts a row every 50 ms. Here the steps are run by hand.
--
-- Open two sessions, A and B, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make the schema that the last step removes.
create schema readpast_lab;
go

-- Step 2, session A: make the queue, with two jobs.
create table readpast_lab.queue (
	id        int identity(1, 1) not null primary key,
	payload   nvarchar(100) not null,
	createdon datetime2(3) not null default sysutcdatetime(),
	agentid   int null
);
insert into readpast_lab.queue (payload) values (N'first'), (N'second');
go

-- Step 3, session A: make the procedure that claims or deletes the first row.
create procedure readpast_lab.dequeue
	@agent int
as
begin
	set nocount on;
	merge into readpast_lab.queue with (tablockx) as q
	using (select top (1) f.id
	         from readpast_lab.queue as f with (tablockx)
	        order by f.id) as head
	   on q.id = head.id
	 when matched and q.agentid is not null then delete
	 when matched then update set agentid = @agent
	output $action as visit, deleted.id, deleted.payload;
end;
go

-- Step 4, session A: agent 1 claims the first row.
-- Expected: UPDATE, 1, first
exec readpast_lab.dequeue @agent = 1;
go

-- Step 5, session B: agent 2 calls the procedure. The first row already names an agent,
-- so the procedure deletes the row, even if agent 1 still works on the job.
-- Expected: DELETE, 1, first
exec readpast_lab.dequeue @agent = 2;
go

-- Step 6, session B: agent 2 calls the procedure again, and claims the second row.
-- Expected: UPDATE, 2, second
exec readpast_lab.dequeue @agent = 2;
go

-- Step 7, session A: agent 1 calls the procedure, which deletes the second row. The
-- transaction stays open.
-- Expected: DELETE, 2, second
begin transaction;
exec readpast_lab.dequeue @agent = 1;
go

-- Step 8, session B: insert a row. The insert waits for A's lock on the table.
-- Waits: until step 9.
insert into readpast_lab.queue (payload) values (N'third');
go

-- Step 9, session A: commit.
commit;
go

-- Step 10, session A: remove the table, the procedure and the schema.
drop procedure readpast_lab.dequeue;
drop table readpast_lab.queue;
drop schema readpast_lab;
go
