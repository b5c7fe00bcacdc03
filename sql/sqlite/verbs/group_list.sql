-- group_list: stub

-- answer:
select '' as name, 0 as waiting, 0 as ready, 0 as running,
       null as held_until, 0 as waiting_at_least
  from readpast_queue
 where name = :queue and 0 = :blocked + :max + :most and :after = '';
