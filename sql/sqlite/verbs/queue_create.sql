-- queue_create: a queue with the default settings, if there is none yet.

insert into readpast_queue (name) values (:queue) on conflict do nothing;
