-- queue_drop: delete the queue, its schedules and its jobs. busy: true if the queue is
-- in use. In this case nothing was deleted. The queue is in use while one of its jobs
-- is running. It is also in use while another transaction has locked the queue or one
-- of its jobs.

select id, busy from readpast.queue_drop(:queue);
