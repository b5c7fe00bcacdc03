-- sweep: do all maintenance. It ends leases that ran out, makes scheduled jobs ready
-- when they are due, deletes kept jobs whose retention time is over and the jobs of
-- dropped queues, and moves the cursors of the lanes (the places at which claims
-- start). Call `sweep` about once a second, from each worker or from one job of the SQL
-- Server Agent. Only one session sweeps at a time. If another session is sweeping, the
-- call does nothing and returns without waiting. Do not call `sweep` in a transaction
-- that stays open, because no other session can sweep until that transaction ends.
-- @most: each step changes at most this many jobs.
-- @unless_ms: do nothing if a sweep has ended less than this long ago.
-- Rows: one. swept: 1, or 0 if this call did nothing. due, recovered, dead, dropped:
-- how many scheduled jobs became ready, how many jobs lost their lease and are ready
-- again, how many jobs lost their lease and are dead, and how many kept jobs were
-- deleted.
-- Errors: 52003 wrong argument, 52007 wrong isolation level, 52008 doomed transaction.
-- Locks: the rows that it changes. Rows that other transactions have locked are
-- skipped.

alter procedure [readpast].sweep @most int = 20000, @unless_ms bigint = 0
as
set nocount on;
set xact_abort on;
declare @got int, @last datetime2(3), @due int = 0, @recovered int = 0, @dead int = 0,
        @dropped int = 0, @swept int = 0,
        @resource nvarchar(255) = concat(N'readpast.sweep ', db_id());
exec [readpast].need_read_committed;
if @most is null or @most < 1 or @unless_ms is null
	throw 52003, N'@most must be at least 1, and @unless_ms must not be null', 1;
begin transaction;
-- If Babelfish 4 has to refuse an application lock, its whole server stops. So test
-- first whether the lock is free. The databases of Babelfish share their application
-- locks, so the lock's name contains the id of the database.
if applock_test(N'public', @resource, N'Exclusive', N'Transaction') = 1
	exec @got = sp_getapplock @Resource = @resource, @LockMode = N'Exclusive',
	@LockOwner = N'Transaction', @LockTimeout = 0;
if @got >= 0
begin
	select @last = convert(datetime2(3), m.value, 126)
	  from [readpast].meta as m
	 where m.name = N'swept_at';
	if @last is null or @unless_ms = 0
	   or datediff_big(millisecond, @last, sysutcdatetime()) not between 0 and @unless_ms
		set @swept = 1;
end;
if @swept = 1
begin
	exec [readpast].sweep_line @most;
	exec [readpast].sweep_leases @most, @recovered output, @dead output;
	exec [readpast].sweep_due @most, @due output;
	exec [readpast].sweep_kept @most, @dropped output;
	exec [readpast].sweep_dropped @most;
	exec [readpast].sweep_cursors;
	update m
	   set value = convert(nvarchar(100), sysutcdatetime(), 126)
	  from [readpast].meta as m
	 where m.name = N'swept_at';
end;
commit transaction;
select @swept as swept, @due as due, @recovered as recovered, @dead as dead,
       @dropped as dropped;
