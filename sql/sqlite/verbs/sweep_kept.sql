-- sweep_kept: kept jobs of a queue whose time is over are forgotten; :max of
-- each state at the most.

select q.id as queue_id, s.column1 as state,
       :now - iif(s.column1 = 4, q.keep_done_ms, q.keep_dead_ms) as before
  from readpast_queue q, (values (4), (5), (6)) s
 where q.id = :queue_id;

-- answer:
select id, payload < '' as apart
  from readpast_archive
 where queue_id = @queue_id and state = @state and finished_at <= @before
 order by finished_at
 limit :max;

delete from readpast_archive where id = @id;

-- if @apart:
delete from readpast_payload where id = @id;
