-- Schema 1: queues.

create function readpast.queue_create(queue text) returns void
language sql volatile as $body$
insert into readpast.queue (name)
select queue_create.queue
 where not exists (select 1 from readpast.queue q
                    where q.name = queue_create.queue)
on conflict do nothing
$body$;
