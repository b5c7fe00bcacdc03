-- queue_create: create a queue with the default settings, unless it exists.

insert into readpast_queue (name) values (:queue) on conflict do nothing;
