-- sweep_kept: delete kept jobs of a queue whose time is over, at most :max of each state.

select q.id as queue_id, s.column1 as state,
       :now - iif(s.column1 = 4, q.keep_done_ms, q.keep_dead_ms) as before
  from readpast_queue q, (values (4), (5), (6)) s
 where q.id = :queue_id
   and exists (select 1 from readpast_kept_count
                where queue_id = q.id and state = s.column1 and jobs > 0);

-- answer:
select id, payload < '' as apart
  from readpast_archive
 where queue_id = @queue_id and state = @state and finished_at <= @before
 order by finished_at
 limit :max;

delete from readpast_archive where id = @id;

-- if @apart:
delete from readpast_payload where id = @id;
