-- dead_letter: statements for verbs in which a job may die. If @letter is 1, they enqueue
-- a new job in the queue @dead_to, with the payload of the dead job @id. The dead job is
-- in the archive already. The queue @dead_to is created if it does not exist.

-- if @letter:
insert into readpast_queue (name)
select @dead_to
 where not exists (select 1 from readpast_queue where name = @dead_to);

-- if @letter:
insert into readpast_job (queue_id, priority, seq, run_at, max_attempts,
                          created_at, kind, headers, payload)
select q.id, q.priority,
       1 + coalesce((select k.seq from readpast_job k
                      where k.queue_id = q.id and k.priority = q.priority
                        and k.class = 2 and k.seq is not null
                      order by k.seq desc limit 1), 0),
       :now, q.max_attempts, :now, a.kind,
       json_set(coalesce(a.headers, '{}'), '$."dead-id"', a.id,
                '$."dead-queue"',
                (select name from readpast_queue where id = a.queue_id),
                '$."dead-error"', a.last_error),
       a.payload
  from readpast_archive a
  join readpast_queue q on q.name = @dead_to
 where a.id = @id;

-- if @letter:
insert into readpast_payload (id, payload)
select last_insert_rowid(), payload from readpast_payload where id = @id;
