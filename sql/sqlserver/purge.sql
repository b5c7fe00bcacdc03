-- purge: delete kept jobs.
-- @queue: the queue.
-- @state: done, dead or cancelled. Null: all three.
-- @kind: if not null, only jobs of this kind.
-- @most: delete at most this many jobs, the oldest of each state first.
-- Rows: one: purged, the number of jobs that were deleted.
-- Errors: 52003 wrong argument, 52005 no such queue, 52007 wrong isolation level, 52008
-- doomed transaction.
-- Locks: the rows that it deletes. Rows that other transactions have locked are
-- skipped. If the caller has no open transaction, the call commits after each slice of
-- up to 1,000 rows.

alter procedure [readpast].purge
	@queue nvarchar(4000), @state nvarchar(10) = null, @kind nvarchar(4000) = null,
	@most bigint = 1000000
as
set nocount on;
set xact_abort on;
declare @queue_id int, @purged bigint = 0, @n int = 4, @slice int, @rows int;
exec [readpast].need_read_committed;
exec [readpast].need_queue @queue, @queue_id output;
if @state is not null and @state collate Latin1_General_BIN2 not in (N'done', N'dead', N'cancelled')
   or @most is null or @most < 0
	throw 52003, N'the state must be done, dead or cancelled, and @most must be at least 0', 1;
while @n <= 6
begin
	set @slice = case when @most - @purged < 1000 then @most - @purged else 1000 end;
	set @rows = 0;
	if @slice > 0 and (@state is null or [readpast].state_word(@n) = @state)
	begin
		delete a
		  from (select top (@slice) k.id
		          from [readpast].archive as k with (rowlock, readpast, updlock, readcommittedlock)
		         where k.queue_id = @queue_id and k.state = @n
		           and (@kind is null or k.kind = @kind)
		         order by k.finished_at) as p
		 inner join [readpast].archive as a with (rowlock) on a.id = p.id
		 where a.queue_id = @queue_id and a.state = @n;
		set @rows = @@rowcount;
	end;
	set @purged = @purged + @rows;
	if @rows = 0
		set @n = @n + 1;
end;
select @purged as purged;
