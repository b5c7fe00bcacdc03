-- queue_drop: delete a queue and its jobs. The queue is gone at once, and its name is
-- free. The next sweeps delete its jobs.
-- @queue: the name of the queue.
-- Errors: 52003 the name is null, 52005 no such queue, 52006 jobs of the queue are
-- running, or an open transaction has added jobs, 52007 wrong isolation level, 52008
-- doomed transaction.
-- Locks: the queue's rows in the tables `queue`, `queue_use` and `lane`.

alter procedure [readpast].queue_drop @queue nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @queue_id int, @message nvarchar(2048);
exec [readpast].need_read_committed;
begin transaction;
exec [readpast].need_queue @queue, @queue_id output;
set @message = concat(N'queue ', @queue, N' is in use: wait for its running jobs or cancel them, and end transactions that have added jobs');
-- An open transaction that has added jobs has locked the queue's row in queue_use. Then
-- READPAST skips the row, no row is deleted, and the queue is not dropped.
delete u
  from [readpast].queue_use as u with (rowlock, readpast, readcommittedlock)
 where u.queue_id = @queue_id;
if @@rowcount = 0
	throw 52006, @message, 1;
if exists (select 1 from [readpast].job as j with (readuncommitted)
            where j.lane_id = 0 - @queue_id and j.lease_until is not null)
   or exists (select 1
                from [readpast].lane as l
               inner join [readpast].job as j with (readuncommitted)
                  on j.lane_id = l.lane_id
               where l.queue_id = @queue_id and j.lease_until is not null)
	throw 52006, @message, 1;
delete from [readpast].lane where queue_id = @queue_id;
delete from [readpast].queue where id = @queue_id;
insert into [readpast].dropped (queue_id) values (@queue_id);
commit transaction;
