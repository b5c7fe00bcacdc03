-- worker_named: register a client as a worker under a name that it chooses, or store the
-- heartbeat of the client with this name. A client has no host and no process id.
-- queues: a JSON array. They are added to the queues that the client serves already.

insert into readpast_worker (name, host, pid, queues, kinds, started_at, seen_at)
select :worker, '', 0, '[]', '[]', :now, :now
 where not exists (select 1 from readpast_worker
                    where name = :worker and host = '' and stopped_at is null);

update readpast_worker
   set seen_at = :now,
       (queues, kinds) = (
           select json_group_array(name), json_group_array(name || '/')
             from (select value as name from json_each(queues)
                   union
                   select value from json_each(:queues)))
 where name = :worker and host = '' and stopped_at is null;

-- answer:
select max(id) as id
  from readpast_worker
 where name = :worker and host = '' and stopped_at is null;
