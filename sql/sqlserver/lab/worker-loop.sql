-- worker-loop: while there is work, one update takes the first row and returns it
--
-- One statement finds a row, marks it and returns its id and its argument. The
-- statement updates a row through a common table expression. The select of this
-- expression locks the first unprocessed row that is not locked yet. The statement is
-- committed before the job starts. So no transaction stays open, and no session waits
-- for another one. A unique index refuses a second row for the same work. An index finds
-- unprocessed rows quickly, however many are done. Two dates in the row show which jobs
-- are slow. The trap: the row of a session that dies stays marked until a person repairs
-- it (step 8).
--
-- The original of this technique ran with many sessions under a stress tool, and its
-- wait statistics showed no session that waited for a lock.
--
-- Open two sessions, A and B, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make the schema that the last step removes.
create schema readpast_lab;
go

-- Step 2, session A: make the queue, with four jobs.
create table readpast_lab.four_queue (
	id         int identity(1, 1) not null primary key,
	reputation int not null,
	in_process bit not null default 0,
	start_date datetime2(3) null,
	end_date   datetime2(3) null
);
create unique index four_queue_once on readpast_lab.four_queue (reputation);
create index four_queue_line on readpast_lab.four_queue (in_process, id);
insert into readpast_lab.four_queue (reputation) values (10), (20), (30), (40);
go

-- Step 3, session A: the unique index refuses a duplicate.
-- Expected: error 2601
insert into readpast_lab.four_queue (reputation) values (20);
go

-- Step 4, session A: make the procedure that takes the first row.
create procedure readpast_lab.take
	@id int output,
	@reputation int output
as
begin
	set nocount on;
	set @id = null;
	with first_row as (
		select top (1) q.id, q.reputation, q.in_process, q.start_date
		  from readpast_lab.four_queue as q with (readpast, rowlock, updlock)
		 where q.in_process = 0
		 order by q.id)
	update first_row
	   set @id = first_row.id,
	       @reputation = first_row.reputation,
	       in_process = 1,
	       start_date = sysutcdatetime();
end;
go

-- Step 5, session A: take the first row, and keep the transaction open, as if both
-- sessions were in this statement at the same time.
-- Expected: 1, 10
begin transaction;
declare @id int, @reputation int;
exec readpast_lab.take @id = @id output, @reputation = @reputation output;
select @id as id, @reputation as reputation;
go

-- Step 6, session B: take the next row. B does not wait.
-- Expected: 2, 20
declare @id int, @reputation int;
exec readpast_lab.take @id = @id output, @reputation = @reputation output;
select @id as id, @reputation as reputation;
go

-- Step 7, session A: A commits, and then runs the worker's loop. The loop ends when no
-- row is left. In a stress test, both sessions run this loop at the same time.
commit;
go
declare @id int, @reputation int;
while exists (select 1 from readpast_lab.four_queue with (readpast)
               where in_process = 0)
begin
	exec readpast_lab.take @id = @id output, @reputation = @reputation output;
	if @id is not null
	begin
		exec sp_executesql N'declare @work int = @reputation;',
			N'@reputation int', @reputation = @reputation;
		update readpast_lab.four_queue
		   set end_date = sysutcdatetime()
		 where id = @id and in_process = 1;
	end;
end;
go

-- Step 8, session B: B dies. Its row stays marked, and so does the first row of A,
-- which nobody has finished.
-- Expected: 1, 10
-- Expected: 2, 20
select id, reputation
  from readpast_lab.four_queue
 where in_process = 1 and end_date is null
 order by id;
go

-- Step 9, session A: count the jobs that took more than a second.
-- Expected: 0
select count(*) as slow
  from readpast_lab.four_queue
 where datediff(millisecond, start_date, end_date) > 1000;
go

-- Step 10, session A: remove the table, the procedure and the schema.
drop procedure readpast_lab.take;
drop table readpast_lab.four_queue;
drop schema readpast_lab;
go
