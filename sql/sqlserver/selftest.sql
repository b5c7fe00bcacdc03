-- selftest: check an installed readpast from one session. Run the whole script in the
-- database of the queue, with rights on the schema readpast: in Management Studio, or
-- with `sqlcmd -I`. The script uses only queues whose names begin with `selftest`, and
-- drops these queues at the end. The last line of the output is `N passed, N failed`.
-- The results before this line list the failed and the skipped checks. A skipped check
-- counts neither as passed nor as failed.
--
-- Each scenario stores its result beside the expected result. selftest_two.sql has the
-- scenarios for two sessions.

set nocount on;
set xact_abort off;
create table #selftest (
	number int identity(1, 1) not null primary key,
	name nvarchar(200) not null,
	got nvarchar(400) null,
	expected nvarchar(400) not null
);
-- The jobs that the last claim took, as the tables show them. The checks read the
-- tables and not the results of the procedures, because not every server can
-- insert such results into a table.
create table #claimed (
	id bigint, claim_no bigint, payload varbinary(max), kind nvarchar(255), attempt int,
	max_attempts int
);
go

-- Drop the queue with all its jobs, and create it again unless @again is 0. A queue
-- with running jobs cannot be dropped, so these jobs are cancelled first.
create procedure #reset
	@again bit = 1
as
begin
	set nocount on;
	declare @id bigint = 0;
	while @id is not null
	begin
		set @id = null;
		select top (1) @id = j.id
		  from [readpast].jobs as j
		 where j.queue = N'selftest' and j.state = N'running';
		if @id is not null
			exec [readpast].cancel @id = @id;
	end;
	if exists (select 1 from [readpast].queue as q where q.name = N'selftest')
		exec [readpast].queue_drop @queue = N'selftest';
	if exists (select 1 from [readpast].queue as q where q.name = N'SELFTEST')
		exec [readpast].queue_drop @queue = N'SELFTEST';
	if @again = 1
		exec [readpast].queue_set @queue = N'selftest', @backoff_ms = 0,
			@keep_done_ms = 600000, @max_attempts = 3;
end;
go
exec #reset;
go

-- ---- enqueue, claim, complete ----

exec [readpast].enqueue @queue = N'selftest', @text = N'hello', @kind = N'greeting',
	@quiet = 1;
insert into #selftest (name, got, expected)
select N'an enqueued job is ready',
       (select concat(j.state, N' ', j.kind, N' ', j.attempt, N' ', j.payload)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'ready greeting 0 hello';
go
exec [readpast].claim @queue = N'selftest', @worker = N'w1', @n = 10;
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'a claim returns the job, with its first attempt',
       (select concat(convert(varchar(20), c.payload), N' ', c.attempt, N' ',
                      c.max_attempts, N' ', c.kind)
          from #claimed as c),
       N'hello 1 3 greeting';
insert into #selftest (name, got, expected)
select N'a claimed job is running, and its row names the worker',
       (select concat(j.state, N' ', j.worker)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'running w1';
go
exec [readpast].claim @queue = N'selftest', @worker = N'w2', @n = 10;
insert into #selftest (name, got, expected)
select N'a running job is not claimed again',
       (select concat(j.worker, N' ', j.attempt)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'w1 1';
go
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #claimed;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
insert into #selftest (name, got, expected)
select N'a completed job is kept for the time that its queue says',
       (select j.state from [readpast].jobs as j where j.id = @id), N'done';
go
declare @id bigint, @claim_no bigint, @got nvarchar(100) = N'no error';
select @id = id, @claim_no = claim_no from #claimed;
begin try
	exec [readpast].complete @id = @id, @claim_no = @claim_no;
end try
begin catch
	set @got = error_number();
	if @@trancount > 0 rollback;
end catch;
insert into #selftest (name, got, expected)
values (N'a job is completed only once', @got, N'52001');
delete from #claimed;
go

-- ---- payloads ----

exec [readpast].enqueue @queue = N'selftest', @text = N'é€', @quiet = 1;
exec [readpast].enqueue @queue = N'selftest', @payload = 0x00ff10, @quiet = 1;
exec [readpast].enqueue @queue = N'selftest', @payload = 0x, @quiet = 1;
declare @big varbinary(max) = convert(varbinary(max), replicate(convert(varchar(max), 'x'), 1048576));
exec [readpast].enqueue @queue = N'selftest', @payload = @big, @quiet = 1;
exec [readpast].claim @queue = N'selftest', @n = 4, @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'a text is stored as UTF-8',
       (select count(*) from #claimed as c where c.payload = 0xc3a9e282ac), N'1';
insert into #selftest (name, got, expected)
select N'a binary payload is stored as it is',
       (select count(*) from #claimed as c where c.payload = 0x00ff10), N'1';
insert into #selftest (name, got, expected)
select N'an empty payload stays empty',
       (select count(*) from #claimed as c where datalength(c.payload) = 0), N'1';
insert into #selftest (name, got, expected)
select N'a payload of 1 MB is not cut',
       (select max(datalength(c.payload)) from #claimed as c), N'1048576';
go
declare @verdicts nvarchar(max) =
	(select c.id as id, c.claim_no as claim_no, N'done' as verdict
	   from #claimed as c
	    for json path);
exec [readpast].settle @verdicts = @verdicts;
insert into #selftest (name, got, expected)
select N'settle completes a batch',
       (select count(*)
          from [readpast].jobs as j
               inner join #claimed as c on c.id = j.id
         where j.state = N'done'),
       N'4';
delete from #claimed;
go

-- ---- the order ----

exec [readpast].enqueue @queue = N'selftest', @text = N'1', @quiet = 1;
exec [readpast].enqueue @queue = N'selftest', @text = N'2', @quiet = 1;
exec [readpast].enqueue @queue = N'selftest', @text = N'urgent', @priority = 1, @quiet = 1;
exec [readpast].enqueue @queue = N'selftest', @text = N'3', @quiet = 1;
go
declare @n int = 0, @order nvarchar(100) = N'';
while @n < 4
begin
	exec [readpast].claim @queue = N'selftest', @worker = N'w1';
	select @order = @order + N' ' + j.payload
	  from [readpast].jobs as j
	 where j.queue = N'selftest' and j.state = N'running'
	   and charindex(j.payload, @order) = 0;
	set @n = @n + 1;
end;
insert into #selftest (name, got, expected)
values (N'claims follow the priority, and then the age', ltrim(@order), N'urgent 1 2 3');
exec #reset;
go

-- ---- leases and claim numbers ----

exec [readpast].enqueue @queue = N'selftest', @text = N'slow', @quiet = 1;
exec [readpast].claim @queue = N'selftest', @lease_ms = 1, @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
go
-- Wait for the end of the lease, without WAITFOR.
declare @end datetime2(3) = dateadd(millisecond, 30, sysutcdatetime());
while sysutcdatetime() < @end
	set @end = @end;
exec [readpast].sweep;
insert into #selftest (name, got, expected)
select N'when a lease is over, the job is ready again, and its attempt counts',
       (select concat(j.state, N' ', j.attempt)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'ready 1';
go
exec [readpast].claim @queue = N'selftest', @worker = N'w2';
insert into #selftest (name, got, expected)
select N'the next claim has a higher claim number, and the second attempt',
       (select concat(j.worker, N' ', j.attempt, N' ',
                      case when j.claim_no > c.claim_no then N'higher' else N'no' end)
          from [readpast].jobs as j
               inner join #claimed as c on c.id = j.id),
       N'w2 2 higher';
go
declare @id bigint, @claim_no bigint, @got nvarchar(100) = N'';
select @id = id, @claim_no = claim_no from #claimed;
begin try
	exec [readpast].complete @id = @id, @claim_no = @claim_no;
end try
begin catch
	set @got = @got + concat(error_number(), N' ');
	if @@trancount > 0 rollback;
end catch;
begin try
	exec [readpast].fail @id = @id, @claim_no = @claim_no;
end try
begin catch
	set @got = @got + concat(error_number(), N' ');
	if @@trancount > 0 rollback;
end catch;
begin try
	exec [readpast].release @id = @id, @claim_no = @claim_no;
end try
begin catch
	set @got = @got + concat(error_number(), N' ');
	if @@trancount > 0 rollback;
end catch;
begin try
	exec [readpast].extend @id = @id, @claim_no = @claim_no;
end try
begin catch
	set @got = @got + concat(error_number(), N' ');
	if @@trancount > 0 rollback;
end catch;
insert into #selftest (name, got, expected)
values (N'all verdicts of the first claim are refused', rtrim(@got),
	N'52001 52001 52001 52001');
insert into #selftest (name, got, expected)
select N'the refused verdicts have changed nothing',
       (select concat(j.state, N' ', j.worker) from [readpast].jobs as j where j.id = @id),
       N'running w2';
go
declare @id bigint, @claim_no bigint, @until datetime2(3);
select @id = j.id, @claim_no = j.claim_no, @until = j.lease_until
  from [readpast].jobs as j
 where j.queue = N'selftest';
exec [readpast].extend @id = @id, @claim_no = @claim_no, @lease_ms = 3600000;
insert into #selftest (name, got, expected)
select N'extend moves the end of the lease',
       (select case when j.lease_until > dateadd(minute, 30, @until) then N'later' end
          from [readpast].jobs as j
         where j.id = @id),
       N'later';
exec [readpast].complete @id = @id, @claim_no = @claim_no;
insert into #selftest (name, got, expected)
select N'the verdict of the second claim is accepted', (select j.state from [readpast].jobs as j where j.id = @id),
       N'done';
delete from #claimed;
go

-- ---- release with a delay, fail for good, extend after the end of the lease ----

exec #reset;
exec [readpast].enqueue @queue = N'selftest', @text = N'later', @quiet = 1;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
declare @id bigint, @claim_no bigint;
select @id = j.id, @claim_no = j.claim_no
  from [readpast].jobs as j
 where j.queue = N'selftest';
exec [readpast].release @id = @id, @claim_no = @claim_no, @delay_ms = 3600000;
insert into #selftest (name, got, expected)
select N'a job released with a delay is scheduled, and its attempt does not count',
       (select concat(j.state, N' ', j.attempt, N' ',
                      case when j.run_at > dateadd(minute, 50, sysutcdatetime())
                           then N'in an hour' end)
          from [readpast].jobs as j
         where j.id = @id),
       N'scheduled 0 in an hour';
go
exec #reset;
exec [readpast].enqueue @queue = N'selftest', @text = N'bad', @quiet = 1;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
declare @id bigint, @claim_no bigint;
select @id = j.id, @claim_no = j.claim_no
  from [readpast].jobs as j
 where j.queue = N'selftest';
exec [readpast].fail @id = @id, @claim_no = @claim_no, @error = N'no such address',
	@for_good = 1;
insert into #selftest (name, got, expected)
select N'a job that failed for good is dead after its first attempt',
       (select concat(j.state, N' ', j.attempt, N' ', j.last_error)
          from [readpast].jobs as j
         where j.id = @id),
       N'dead 1 no such address';
go
exec #reset;
exec [readpast].enqueue @queue = N'selftest', @text = N'late', @quiet = 1;
exec [readpast].claim @queue = N'selftest', @worker = N'w1', @lease_ms = 1;
declare @id bigint, @claim_no bigint,
        @end datetime2(3) = dateadd(millisecond, 30, sysutcdatetime());
select @id = j.id, @claim_no = j.claim_no
  from [readpast].jobs as j
 where j.queue = N'selftest';
while sysutcdatetime() < @end
	set @end = @end;
exec [readpast].extend @id = @id, @claim_no = @claim_no, @lease_ms = 3600000;
exec [readpast].sweep;
insert into #selftest (name, got, expected)
select N'a lease that is over can be extended until the sweep has ended it',
       (select concat(j.state, N' ', j.attempt)
          from [readpast].jobs as j
         where j.id = @id),
       N'running 1';
exec #reset;
go

-- ---- fail, release, schedule ----

exec [readpast].enqueue @queue = N'selftest', @text = N'bad', @max_attempts = 2, @quiet = 1;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
go
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #claimed;
exec [readpast].fail @id = @id, @claim_no = @claim_no, @error = N'no disk', @delay_ms = 0;
insert into #selftest (name, got, expected)
select N'a failed job is ready again, with its error',
       (select concat(j.state, N' ', j.attempt, N' ', j.last_error)
          from [readpast].jobs as j
         where j.id = @id),
       N'ready 1 no disk';
delete from #claimed;
go
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #claimed;
exec [readpast].release @id = @id, @claim_no = @claim_no;
insert into #selftest (name, got, expected)
select N'a released job is ready again, and its attempt does not count',
       (select concat(j.state, N' ', j.attempt)
          from [readpast].jobs as j
         where j.id = @id),
       N'ready 1';
delete from #claimed;
go
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #claimed;
exec [readpast].fail @id = @id, @claim_no = @claim_no, @error = N'no disk', @delay_ms = 0;
insert into #selftest (name, got, expected)
select N'a job that has failed in all its attempts is dead',
       (select concat(j.state, N' ', j.attempt)
          from [readpast].jobs as j
         where j.id = @id),
       N'dead 2';
exec [readpast].retry @id = @id;
insert into #selftest (name, got, expected)
select N'retry makes a dead job ready',
       (select j.state from [readpast].jobs as j where j.id = @id), N'ready';
exec [readpast].cancel @id = @id;
insert into #selftest (name, got, expected)
select N'cancel cancels it',
       (select j.state from [readpast].jobs as j where j.id = @id), N'cancelled';
delete from #claimed;
go
exec [readpast].enqueue @queue = N'selftest', @text = N'cancel me', @quiet = 1;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
go
declare @id bigint, @claim_no bigint, @got nvarchar(100) = N'no error';
select @id = id, @claim_no = claim_no from #claimed;
exec [readpast].cancel @id = @id;
begin try
	exec [readpast].complete @id = @id, @claim_no = @claim_no;
end try
begin catch
	set @got = error_number();
	if @@trancount > 0 rollback;
end catch;
insert into #selftest (name, got, expected)
values (N'the verdict on a job that was cancelled while it ran is refused', @got,
	N'52002');
delete from #claimed;
go
exec [readpast].enqueue @queue = N'selftest', @text = N'later', @delay_ms = 3600000,
	@quiet = 1;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'a delayed job is scheduled, and is not claimed',
       (select concat(j.state, N' ', (select count(*) from #claimed))
          from [readpast].jobs as j
         where j.queue = N'selftest' and j.payload = N'later'),
       N'scheduled 0';
go
exec [readpast].enqueue @queue = N'selftest', @text = N'soon', @delay_ms = 10, @quiet = 1;
declare @end datetime2(3) = dateadd(millisecond, 50, sysutcdatetime());
while sysutcdatetime() < @end
	set @end = @end;
exec [readpast].sweep;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'a scheduled job is claimed when its time has come',
       (select convert(varchar(20), c.payload) from #claimed as c), N'soon';
delete from #claimed;
exec #reset;
go

-- ---- unique keys ----

declare @first bigint, @second bigint, @third bigint;
exec [readpast].enqueue @queue = N'selftest', @text = N'old', @unique_key = N'k',
	@quiet = 1, @id = @first output;
exec [readpast].enqueue @queue = N'selftest', @text = N'new', @unique_key = N'k',
	@quiet = 1, @id = @second output;
insert into #selftest (name, got, expected)
select N'a second job with the same key is not added, and the first keeps its payload',
       (select concat(count(*), N' ', max(j.payload), N' ', @second - @first)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'1 old 0';
exec [readpast].enqueue @queue = N'selftest', @text = N'new', @unique_key = N'k',
	@replace = 1, @quiet = 1, @id = @third output;
insert into #selftest (name, got, expected)
select N'with @replace the job gets the new payload',
       (select concat(count(*), N' ', max(j.payload), N' ', @third - @first)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'1 new 0';
exec [readpast].enqueue @queue = N'selftest', @text = N'other', @unique_key = N'K',
	@quiet = 1;
insert into #selftest (name, got, expected)
select N'keys that differ in case are different',
       (select count(*) from [readpast].jobs as j where j.queue = N'selftest'), N'2';
go

-- ---- names ----

exec #reset;
exec [readpast].enqueue @queue = N'SELFTEST', @text = N'large', @quiet = 1;
insert into #selftest (name, got, expected)
select N'queues whose names differ in case are different queues',
       concat((select count(*) from [readpast].jobs as j where j.queue = N'SELFTEST'),
              N' ',
              (select count(*) from [readpast].jobs as j where j.queue = N'selftest')),
       N'1 0';
exec #reset;
go

-- ---- batches ----

exec [readpast].enqueue_many @queue = N'selftest',
	@jobs = N'[{"text":"x","kind":"a"},{"text":"y","kind":"b"},{"payload":"7a","kind":"c"}]';
exec [readpast].claim @queue = N'selftest', @n = 10, @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'enqueue_many adds all jobs, in their order',
       replace((select c.kind as kind,
                       case c.payload when 0x78 then 1 when 0x79 then 2
                                      when 0x7a then 3 end as payload
                  from #claimed as c
                 order by c.id
                   for json path), N' ', N''),
       N'[{"kind":"a","payload":1},{"kind":"b","payload":2},{"kind":"c","payload":3}]';
go
-- Settle three jobs. The verdict on the job of the kind b has a wrong claim number.
declare @verdicts nvarchar(max) =
	(select c.id as id,
	        case c.kind when N'b' then c.claim_no - 1 else c.claim_no end as claim_no,
	        case c.kind when N'c' then N'release' else N'done' end as verdict
	   from #claimed as c
	  order by c.id
	    for json path);
exec [readpast].settle @verdicts = @verdicts;
insert into #selftest (name, got, expected)
select N'settle accepts the verdicts of a batch one by one',
       replace((select j.kind as kind, j.state as state
                  from [readpast].jobs as j
                       inner join #claimed as c on c.id = j.id
                 order by j.id
                   for json path), N' ', N''),
       N'[{"kind":"a","state":"done"},{"kind":"b","state":"running"},{"kind":"c","state":"ready"}]';
go
declare @verdicts nvarchar(max) =
	(select c.id as id, c.claim_no as claim_no, N'done' as verdict
	   from #claimed as c
	  where c.kind = N'b'
	    for json path);
exec [readpast].settle_and_claim @verdicts = @verdicts, @queue = N'selftest', @n = 1,
	@worker = N'w2';
insert into #selftest (name, got, expected)
select N'settle_and_claim settles one job and claims the next',
       replace((select j.kind as kind, j.state as state, j.worker as worker
                  from [readpast].jobs as j
                       inner join #claimed as c on c.id = j.id
                 where c.kind <> N'a'
                 order by j.id
                   for json path), N' ', N''),
       N'[{"kind":"b","state":"done","worker":"w1"},{"kind":"c","state":"running","worker":"w2"}]';
delete from #claimed;
exec #reset;
go

-- ---- pause, stats, purge ----

exec [readpast].enqueue @queue = N'selftest', @text = N'x', @quiet = 1;
exec [readpast].pause @queue = N'selftest', @reason = N'upgrade';
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'a paused queue hands out no job', (select count(*) from #claimed), N'0';
exec [readpast].resume @queue = N'selftest';
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
insert into #selftest (name, got, expected)
select N'a resumed queue does', (select count(*) from #claimed), N'1';
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #claimed;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
exec [readpast].enqueue @queue = N'selftest', @text = N'y', @quiet = 1;
exec [readpast].purge @queue = N'selftest', @state = N'done';
insert into #selftest (name, got, expected)
select N'purge removes the jobs in a state',
       (select concat(count(*), N' ', max(j.payload))
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'1 y';
delete from #claimed;
go

-- ---- the caller's transaction ----

begin transaction;
exec [readpast].enqueue @queue = N'selftest', @text = N'rolled back', @quiet = 1;
rollback;
insert into #selftest (name, got, expected)
select N'a rollback of the caller removes a job that was enqueued in the transaction',
       (select count(*) from [readpast].jobs as j
         where j.queue = N'selftest' and j.payload = N'rolled back'),
       N'0';
go
exec #reset;
exec [readpast].enqueue @queue = N'selftest', @text = N'x', @quiet = 1;
begin transaction;
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
rollback;
insert into #selftest (name, got, expected)
select N'a rollback of the caller undoes a claim',
       (select concat(j.state, N' ', j.attempt)
          from [readpast].jobs as j
         where j.queue = N'selftest'),
       N'ready 0';
go
exec [readpast].claim @queue = N'selftest', @worker = N'w1';
insert into #claimed (id, claim_no, payload, kind, attempt, max_attempts)
select j.id, j.claim_no, j.payload, j.kind, j.attempt, j.max_attempts
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest' and j.lease_until is not null;
declare @id bigint, @claim_no bigint;
select @id = id, @claim_no = claim_no from #claimed;
begin transaction;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
rollback;
insert into #selftest (name, got, expected)
select N'a rollback of the caller undoes a verdict',
       (select j.state from [readpast].jobs as j where j.id = @id), N'running';
begin transaction;
exec [readpast].complete @id = @id, @claim_no = @claim_no;
commit;
insert into #selftest (name, got, expected)
select N'the job is done when the caller commits',
       (select j.state from [readpast].jobs as j where j.id = @id), N'done';
delete from #claimed;
go

-- ---- bad input ----

declare @bad table (
	number int identity(1, 1), name nvarchar(100), sql nvarchar(400), expected int);
insert into @bad (name, sql, expected) values
	(N'an unknown queue', N'exec [readpast].claim @queue = N''selftest unknown''', 52005),
	(N'no queue', N'exec [readpast].claim @queue = null', 52003),
	(N'an empty name', N'exec [readpast].enqueue @queue = N'''', @text = N''x''', 52003),
	(N'a long name',
	 N'declare @q nvarchar(400) = replicate(N''q'', 300);
	   exec [readpast].enqueue @queue = @q, @text = N''x''', 52003),
	(N'no payload', N'exec [readpast].enqueue @queue = N''selftest''', 52003),
	(N'two payloads',
	 N'exec [readpast].enqueue @queue = N''selftest'', @text = N''x'', @payload = 0x01', 52003),
	(N'a negative delay',
	 N'exec [readpast].enqueue @queue = N''selftest'', @text = N''x'', @delay_ms = -1', 52003),
	(N'no attempt',
	 N'exec [readpast].enqueue @queue = N''selftest'', @text = N''x'', @max_attempts = 0', 52003),
	(N'a priority that is too large',
	 N'exec [readpast].enqueue @queue = N''selftest'', @text = N''x'', @priority = 256', 52003),
	(N'wrong headers',
	 N'exec [readpast].enqueue @queue = N''selftest'', @text = N''x'', @headers = N''[1''', 52003),
	(N'a claim of nothing', N'exec [readpast].claim @queue = N''selftest'', @n = 0', 52003),
	(N'a lease that is not positive',
	 N'exec [readpast].claim @queue = N''selftest'', @lease_ms = 0', 52003),
	(N'wrong JSON',
	 N'exec [readpast].enqueue_many @queue = N''selftest'', @jobs = N''[{"text":1''', 52003),
	(N'JSON that is no list',
	 N'exec [readpast].settle @verdicts = N''{"id":1}''', 52003),
	(N'a verdict that is unknown',
	 N'exec [readpast].settle @verdicts = N''[{"id":1,"claim_no":1,"verdict":"maybe"}]''', 52003),
	(N'a verdict without a claim number',
	 N'exec [readpast].complete @id = 1, @claim_no = null', 52003),
	(N'a job that never existed',
	 N'exec [readpast].complete @id = 9007199254740993, @claim_no = 1', 52005),
	(N'a payload that is too large',
	 N'exec [readpast].queue_set @queue = N''selftest'', @max_payload = 10;
	   exec [readpast].enqueue @queue = N''selftest'', @text = N''more than ten''', 52004);
declare @i int = 1, @sql nvarchar(400), @got nvarchar(100);
while @i <= (select count(*) from @bad)
begin
	select @sql = b.sql, @got = N'no error' from @bad as b where b.number = @i;
	begin try
		exec sp_executesql @sql;
	end try
	begin catch
		set @got = error_number();
		if @@trancount > 0 rollback;
	end catch;
	insert into #selftest (name, got, expected)
	select N'refused: ' + b.name, @got, b.expected from @bad as b where b.number = @i;
	set @i = @i + 1;
end;
set @i = @@trancount;
insert into #selftest (name, got, expected)
select N'the refused calls have left nothing',
       concat((select count(*) from [readpast].jobs as j
                where j.queue = N'selftest' and j.state <> N'done'), N' ', @i),
       N'0 0';
exec [readpast].queue_set @queue = N'selftest', @max_payload = 1000000;
go
set transaction isolation level snapshot;
go
declare @got nvarchar(100) = N'no error';
begin try
	exec [readpast].claim @queue = N'selftest';
end try
begin catch
	set @got = error_number();
	if @@trancount > 0 rollback;
end catch;
insert into #selftest (name, got, expected)
values (N'refused: a claim under SNAPSHOT', @got, N'52007');
go
set transaction isolation level read committed;
go
-- An error has doomed the transaction, so the claim must be refused.
set xact_abort on;
declare @got nvarchar(100) = N'no error', @doomed int = 0;
begin try
	begin transaction;
	select @doomed = 1 / @doomed;
end try
begin catch
	set @doomed = xact_state();
	begin try
		exec [readpast].claim @queue = N'selftest';
	end try
	begin catch
		set @got = error_number();
		if @@trancount > 0 rollback;
	end catch;
end catch;
if @@trancount > 0
	rollback;
set xact_abort off;
insert into #selftest (name, got, expected)
values (N'refused: a claim in a doomed transaction',
	case when @doomed = -1 and @got <> N'3930' then @got
	     else N'skipped: this server dooms transactions in its own way' end,
	N'52008');
go

-- ---- the two shapes of the claim ----

-- A claim can be written in two ways: as an update that joins the table with its first
-- ready rows, as readpast does, or as an update of a common table expression. Both ways
-- must take the same rows.
exec #reset;
declare @i int = 0;
while @i < 20
begin
	exec [readpast].enqueue @queue = N'selftest', @text = N'x', @quiet = 1;
	set @i = @i + 1;
end;
go
declare @joined nvarchar(400), @cte nvarchar(400), @lane bigint;
select @lane = min(j.lane_id)
  from [readpast].job as j
       inner join [readpast].queue as q on q.id = j.queue_id
 where q.name = N'selftest';
begin transaction;
exec [readpast].claim @queue = N'selftest', @n = 7, @worker = N'w1';
select @joined = (select j.id as id
                    from [readpast].jobs as j
                   where j.queue = N'selftest' and j.state = N'running'
                   order by j.id
                     for json path);
rollback;
begin try
	begin transaction;
	exec sp_executesql N'
		with n as (
			select top (7) j.*
			  from [readpast].job as j
			       with (rowlock, readpast, updlock, readcommittedlock)
			 where j.lane_id = @lane and j.lease_until is null
			 order by j.lane_id, j.seq, j.id)
		update n
		   set lease_until = dateadd(minute, 1, sysutcdatetime())
		option (maxdop 1);',
		N'@lane bigint', @lane = @lane;
	select @cte = (select j.id as id
	                 from [readpast].job as j
	                where j.lane_id = @lane and j.lease_until is not null
	                order by j.id
	                  for json path);
end try
begin catch
	set @cte = N'skipped: this server cannot update a common table expression';
end catch;
if @@trancount > 0
	rollback;
insert into #selftest (name, got, expected)
values (N'the claim takes the rows that the shape with a common table expression takes',
	@cte, @joined);
go

-- ---- the result ----

exec #reset @again = 0;
go
select t.name, t.got, t.expected
  from #selftest as t
 where (t.got is null or t.got <> t.expected) and isnull(t.got, N'') not like N'skipped:%'
 order by t.number;
select concat(N'skipped: ', t.name, substring(t.got, 8, 400)) as skipped
  from #selftest as t
 where t.got like N'skipped:%'
 order by t.number;
select concat(isnull(sum(case when t.got = t.expected then 1 else 0 end), 0), N' passed, ',
              isnull(sum(case when t.got = t.expected or t.got like N'skipped:%'
                              then 0 else 1 end), 0), N' failed') as result
  from #selftest as t;
drop table #selftest, #claimed;
drop procedure #reset;
go
