-- applock: lock the row of each message, and also take an application lock for it
--
-- A cursor reads the messages that no session has taken, and skips locked rows. For
-- each message the session also tries, without waiting, to take an exclusive
-- application lock named after the message's id. The session keeps that lock until its
-- transaction ends. If another session has the lock, this session goes on to the next
-- message. So no message is taken twice, even on an engine that treats locking hints as
-- advice. The trap: a message counts as taken when the batch is returned, not when its
-- job is done. A session that dies after its commit loses its batch.
--
-- Open two sessions, A and B, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make the schema that the last step removes.
create schema readpast_lab;
go

-- Step 2, session A: make the queue, with four messages.
create table readpast_lab.message (
	messageid   uniqueidentifier not null primary key default newid(),
	messagebody nvarchar(100) not null,
	enqueuetime datetime2(3) not null default sysutcdatetime(),
	dequeuetime datetime2(3) null
);
create index message_line on readpast_lab.message (dequeuetime, enqueuetime);
insert into readpast_lab.message (messagebody, enqueuetime)
values (N'first', '20260101 08:00'), (N'second', '20260101 08:01'),
	(N'third', '20260101 08:02'), (N'fourth', '20260101 08:03');
go

-- Step 3, session A: make the procedure that takes up to @batchsize messages. The
-- caller has begun a transaction, which owns the application locks.
create procedure readpast_lab.receive
	@batchsize int
as
begin
	set nocount on;
	declare @batch table (messageid uniqueidentifier not null primary key);
	declare @id uniqueidentifier;
	declare @name nvarchar(255);
	declare @got int;
	declare @count int = 0;
	declare line cursor local for
		select m.messageid
		  from readpast_lab.message as m with (rowlock, updlock, readpast)
		 where m.dequeuetime is null
		 order by m.enqueuetime;
	open line;
	fetch next from line into @id;
	while @@fetch_status <> -1 and @count < @batchsize
	begin
		-- The status is -2 for a row that was deleted after the cursor was
		-- opened.
		if @@fetch_status = 0
		begin
			set @name = cast(@id as nvarchar(255));
			exec @got = sp_getapplock @Resource = @name,
				@LockMode = 'Exclusive', @LockOwner = 'Transaction',
				@LockTimeout = 0;
			if @got >= 0
			begin
				insert into @batch (messageid) values (@id);
				set @count = @count + 1;
			end;
		end;
		fetch next from line into @id;
	end;
	close line;
	deallocate line;
	update readpast_lab.message
	   set dequeuetime = sysutcdatetime()
	 where messageid in (select b.messageid from @batch as b);
	select m.messagebody
	  from readpast_lab.message as m
	 where m.messageid in (select b.messageid from @batch as b)
	 order by m.enqueuetime;
end;
go

-- Step 4, session A: begin, and take two messages.
-- Expected: first
-- Expected: second
begin transaction;
exec readpast_lab.receive @batchsize = 2;
go

-- Step 5, session B: begin, and take two messages. B skips the messages that A has
-- taken, and does not wait.
-- Expected: third
-- Expected: fourth
begin transaction;
exec readpast_lab.receive @batchsize = 2;
go

-- Step 6, session B: commit. The batch counts as done.
commit;
go

-- Step 7, session A: A fails before its commit.
rollback;
go

-- Step 8, session B: the messages of A are free again.
-- Expected: first
-- Expected: second
begin transaction;
exec readpast_lab.receive @batchsize = 3;
commit;
go

-- Step 9, session A: remove the table, the procedure and the schema.
drop procedure readpast_lab.receive;
drop table readpast_lab.message;
drop schema readpast_lab;
go
