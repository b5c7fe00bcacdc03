-- marker: one update sets the session's own mark on a batch of rows
--
-- The row stays in the table while its job runs. It has a priority, the time from which
-- the job is available, the number of attempts and a time-out. The session makes a new
-- GUID, its mark, and writes it to a batch of rows with one update. Then the rows with
-- this mark belong to the session. The update takes rows that were never tried, and
-- rows whose time-out is over and that were tried fewer than three times. The update
-- repeats the condition of its inner select. So no row gets two marks, even on an
-- engine where that select does not skip locked rows.
--
-- A session reports a finished job by setting a date. The trap: a session may report a
-- job after the job's time-out, when another session already has the job (step 8). This
-- late report is accepted. Another trap: no statement ever deletes the rows.
--
-- Open two sessions, A and B, in one database. Run each step in the session that it
-- names. "Expected" says what the step returns on SQL Server with the default options.

-- Step 1, session A: make the schema that the last step removes.
create schema readpast_lab;
go

-- Step 2, session A: make the queue. The third job has the highest priority, and the
-- fourth is not available yet.
create table readpast_lab.job_queue (
	id                      int identity(1, 1) not null primary key,
	priority                tinyint not null default 255,
	available_date          datetime2(3) not null default sysutcdatetime(),
	timeout_date            datetime2(3) null,
	attempts                int not null default 0,
	processing_mark         uniqueidentifier null,
	processing_server       nvarchar(128) null,
	last_attempt_start_date datetime2(3) null,
	last_attempt_end_date   datetime2(3) null,
	payload                 nvarchar(100) not null
);
create index job_queue_line
	on readpast_lab.job_queue (processing_mark, priority, available_date);
insert into readpast_lab.job_queue (payload, priority, available_date)
values (N'first', 255, dateadd(minute, -3, sysutcdatetime())),
	(N'second', 255, dateadd(minute, -2, sysutcdatetime())),
	(N'third', 1, dateadd(minute, -1, sysutcdatetime())),
	(N'fourth', 255, dateadd(hour, 1, sysutcdatetime()));
go

-- Step 3, session A: make the procedure that takes up to @n rows.
create procedure readpast_lab.take
	@n int
as
begin
	set nocount on;
	declare @mark uniqueidentifier = newid();
	declare @now datetime2(3) = sysutcdatetime();
	update j
	   set j.processing_mark = @mark,
	       j.processing_server = host_name(),
	       j.attempts = j.attempts + 1,
	       j.last_attempt_start_date = @now,
	       j.timeout_date = dateadd(minute, 15, @now)
	  from readpast_lab.job_queue as j
	 where j.id in (
		select top (@n) i.id
		  from readpast_lab.job_queue as i with (rowlock, updlock, readpast)
		 where (i.processing_mark is null and i.attempts = 0
		        and i.available_date <= @now)
		    or (coalesce(i.last_attempt_end_date, '19000101')
		            < i.last_attempt_start_date
		        and i.timeout_date <= @now and i.attempts < 3)
		 order by i.priority, i.available_date)
	   and ((j.processing_mark is null and j.attempts = 0
	         and j.available_date <= @now)
	        or (coalesce(j.last_attempt_end_date, '19000101')
	                < j.last_attempt_start_date
	            and j.timeout_date <= @now and j.attempts < 3));
	select id, payload, attempts
	  from readpast_lab.job_queue
	 where processing_mark = @mark
	 order by priority, available_date;
end;
go

-- Step 4, session A: take two rows. A gets the job with the highest priority first,
-- then the oldest of the others.
-- Expected: 3, third, 1
-- Expected: 1, first, 1
exec readpast_lab.take @n = 2;
go

-- Step 5, session B: take two rows. Only one row is available.
-- Expected: 2, second, 1
exec readpast_lab.take @n = 2;
go

-- Step 6, session A: the first update reports that the third job is finished. The second
-- update moves the time-out of the first job into the past, as if A had worked on this
-- job for too long.
update readpast_lab.job_queue
   set last_attempt_end_date = sysutcdatetime()
 where id = 3;
update readpast_lab.job_queue
   set timeout_date = dateadd(second, -1, sysutcdatetime())
 where id = 1;
go

-- Step 7, session B: take two rows. B gets the first job, for its second attempt.
-- Expected: 1, first, 2
exec readpast_lab.take @n = 2;
go

-- Step 8, session A: A reports the first job, too late. The report is accepted.
-- Expected: 1
update readpast_lab.job_queue
   set last_attempt_end_date = sysutcdatetime()
 where id = 1;
select @@rowcount as reported;
go

-- Step 9, session A: remove the table, the procedure and the schema.
drop procedure readpast_lab.take;
drop table readpast_lab.job_queue;
drop schema readpast_lab;
go
