-- queues_after: the names of the queues with ids above :after, in the order of their ids.

-- answer:
select id, name from readpast_queue where id > :after order by id;
