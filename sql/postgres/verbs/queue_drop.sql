-- queue_drop: delete the queue, its schedules and its jobs. busy: a job is running, or
-- an open transaction has locked a job or the queue, so nothing was deleted.

select id, busy from readpast.queue_drop(:queue);
