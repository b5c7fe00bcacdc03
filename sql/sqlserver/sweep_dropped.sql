-- sweep_dropped: delete the jobs of dropped queues.
-- @most: delete at most this many jobs from each of the tables `job` and `archive`.
-- Called by `sweep`, in a transaction.
-- Locks: the rows that it deletes. Locked rows are skipped.

alter procedure [readpast].sweep_dropped @most int
as
set nocount on;
set xact_abort on;
if not exists (select 1 from [readpast].dropped as d)
	return;
delete j
  from (select top (@most) k.id
          from [readpast].dropped as d
         inner join [readpast].job as k with (rowlock, readpast, readcommittedlock)
            on k.lane_id = 0 - d.queue_id
            or k.lane_id between cast(d.queue_id as bigint) * 1024
                             and cast(d.queue_id as bigint) * 1024 + 1023) as p
 inner loop join [readpast].job as j with (rowlock, readpast, updlock, readcommittedlock, index (job_id))
    on j.id = p.id;
delete a
  from (select top (@most) k.id
          from [readpast].dropped as d
         inner join [readpast].archive as k with (rowlock, readpast, readcommittedlock)
            on k.queue_id = d.queue_id) as p
 inner loop join [readpast].archive as a with (rowlock, readpast, updlock, readcommittedlock)
    on a.id = p.id;
delete d
  from [readpast].dropped as d
 where not exists (select 1 from [readpast].archive as a with (readuncommitted)
                    where a.queue_id = d.queue_id)
   and not exists (select 1 from [readpast].job as j with (readuncommitted)
                    where j.lane_id = 0 - d.queue_id
                       or j.lane_id between cast(d.queue_id as bigint) * 1024
                                        and cast(d.queue_id as bigint) * 1024 + 1023);
