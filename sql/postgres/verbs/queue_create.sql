-- queue_create: create a queue with the default settings, unless it exists.

select readpast.queue_create(:queue) as is_new;
