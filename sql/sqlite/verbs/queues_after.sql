-- queues_after: return the names of the queues with ids above :after, by id.

-- answer:
select id, name from readpast_queue where id > :after order by id;
