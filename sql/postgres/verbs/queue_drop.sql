-- queue_drop: remove the queue, its schedules and its jobs. busy: a job runs, or an open transaction
-- has a job or the queue locked; nothing was done.

select id, busy from readpast.queue_drop(:queue);
