-- open_lane: add the three lanes of a priority of a queue, one for each class, unless
-- they exist. (See the table `lane`.)
-- @queue_id, @priority: the queue and the priority.
-- Called in a transaction.
-- Locks: no existing row.

alter procedure [readpast].open_lane @queue_id int, @priority int
as
set nocount on;
set xact_abort on;
insert into [readpast].lane (queue_id, lane_id)
select @queue_id, cast(@queue_id as bigint) * 1024 + @priority * 4 + c.class
  from (select 0 as class union all select 1 union all select 2) as c
 where not exists (
           select 1 from [readpast].lane as l
            where l.queue_id = @queue_id
              and l.lane_id = cast(@queue_id as bigint) * 1024 + @priority * 4 + c.class);
