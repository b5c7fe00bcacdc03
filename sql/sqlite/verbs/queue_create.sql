-- queue_create: create a queue with the default settings if it does not exist.

-- answer:
insert into readpast_queue (name) values (:queue) on conflict do nothing
returning 1 as is_new;
