-- queue_drop: remove the queue and whatever it still has. busy: a job runs, or
-- an open transaction is at work on the queue, and nothing was done.

select id, busy from readpast.queue_drop(:queue);
