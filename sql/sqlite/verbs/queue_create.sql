-- queue_create: create a queue with the default settings if it does not exist.

insert into readpast_queue (name) values (:queue) on conflict do nothing;
