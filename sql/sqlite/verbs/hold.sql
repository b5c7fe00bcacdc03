-- hold: stub

-- answer:
select id from readpast_queue where name = :queue and :group_key = :for_ms;
