-- dead_loop: check whether the setting dead_to of a queue may get the value :dead_to.
-- loops is 1 if a dead job could come back to the queue, directly or through other
-- queues. If so, one bad job would be enqueued again and again without end.

-- answer:
with recursive chain(name) as (
  select :dead_to
   union
  select q.dead_to
    from chain c join readpast_queue q on q.name = c.name
   where q.dead_to is not null)
select exists (select 1 from chain where name = :queue) as loops;
