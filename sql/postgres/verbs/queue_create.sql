-- queue_create: make a queue with the default settings, unless it exists.

select readpast.queue_create(:queue);
