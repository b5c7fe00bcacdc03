-- sweep_kept: delete finished jobs of a queue that have been kept long enough, at most
-- :max jobs of each state.
-- The number 14 is not a state of a job. Here and in readpast_kept_count it means the
-- done jobs that have a keep_ms of their own. A dead or cancelled job that has a keep_ms
-- is kept for the longer of two times: its keep_ms, and the queue's keep_dead_ms.

select q.id as queue_id, s.column1 as state,
       :now - iif(s.column1 = 4, q.keep_done_ms, q.keep_dead_ms) as before
  from readpast_queue q, (values (4), (5), (6), (14)) s
 where q.id = :queue_id
   and exists (select 1 from readpast_kept_count
                where queue_id = q.id and state = s.column1 and jobs > 0);

-- answer:
select id as id, apart as apart
  from (select id, payload < '' as apart
          from readpast_archive
         where queue_id = @queue_id and state = @state
           and finished_at <= @before
           and (keep_ms is null or @state > 4 and finished_at + keep_ms <= :now)
         order by finished_at
         limit :max)
union all
select id, apart
  from (select id, payload < '' as apart
          from readpast_archive indexed by readpast_archive_keep
         where @state = 14 and queue_id = @queue_id
           and state = 4 and keep_ms is not null
           and finished_at + keep_ms <= :now
         order by finished_at + keep_ms
         limit :max);

delete from readpast_archive where id = @id;

-- if @apart:
delete from readpast_payload where id = @id;
