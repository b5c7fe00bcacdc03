-- dead_loop: would a job that dies in the queue come back to it, if the queue's dead_to were
-- :dead_to? Then one bad job would go round for ever.

-- answer:
with recursive chain(name) as (
  select :dead_to
   union
  select q.dead_to
    from chain c join readpast_queue q on q.name = c.name
   where q.dead_to is not null)
select exists (select 1 from chain where name = :queue) as loops;
