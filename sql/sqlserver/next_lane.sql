-- next_lane: find the next lane from which a claim may take jobs.
-- @queue_id: the queue. Null: the queue is paused, so no lane is found.
-- @n: the largest number of jobs that the claim may take.
-- @taken: how many jobs the claim has taken so far.
-- @holding: how many jobs the caller of the claim held before the claim.
-- @lane: the caller passes the lane that it has just read, or 0 for the first lane. The
-- procedure sets @lane to the next lane, or to null if the claim must end.
-- @start: the claim starts at this place of the lane (a value of seq).
-- @most: the largest number of jobs that the claim may take from this lane. A suspect
-- (a job that may have killed its worker) is taken alone, and only by a caller that
-- holds no job. If such a caller has taken other jobs before it comes to a suspect, the
-- claim ends there. So the next claim can take the suspect, and the suspect does not
-- wait for ever.
-- Locks: none. The procedure reads the table `lane` without waiting for locks, so it
-- may see a lane that is rolled back later. Such a lane has no jobs.

alter procedure [readpast].next_lane
	@queue_id int, @n int, @taken int, @holding int, @lane bigint output,
	@start bigint output, @most int output
as
set nocount on;
set xact_abort on;
declare @next bigint;
set @most = @n - @taken;
while @lane is not null and @most > 0
begin
	set @next = null;
	select top (1) @next = l.lane_id, @start = l.cursor_at
	  from [readpast].lane as l with (readuncommitted)
	 where l.queue_id = @queue_id and l.lane_id > @lane
	 order by l.lane_id, l.cursor_at;
	set @lane = @next;
	if @lane is null or @lane % 4 <> 1
		return;
	if @holding + @taken = 0
	begin
		set @most = 1;
		return;
	end;
	if @holding = 0 and exists (
		select 1 from [readpast].job as j with (rowlock, readpast, readcommittedlock)
		 where j.lane_id = @lane and j.seq >= @start and j.lease_until is null)
		set @lane = null;
end;
set @lane = null;
