-- queue_create: a queue with the default settings, if there is none yet.

select readpast.queue_create(:queue);
