-- queue_drop: remove the queue and whatever it still has. busy: a job runs, and
-- nothing was done.

select id, busy from readpast.queue_drop(:queue);
