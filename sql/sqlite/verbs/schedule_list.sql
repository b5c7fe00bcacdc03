-- schedule_list: return schedules, sorted by name. If :name is not null, only the
-- schedule of that name is returned. If :queue is not null, only the schedules of that
-- queue are returned. last_state is the state of the schedule's last job, or null if
-- that job no longer exists.

-- answer:
select s.id, s.name, s.queue, s.spec, s.zone, s.content, s.kind, s.headers,
       s.priority, s.missed, s.overlap, s.anchor, s.next_at, s.last_at,
       s.last_job_id,
       coalesce((select l.state from readpast_live l
                  where l.id = s.last_job_id),
                (select k.state from readpast_kept k
                  where k.id = s.last_job_id)) as last_state,
       s.last_error, s.paused_at, s.created_at
  from readpast_schedule s
 where s.name in (select :name
                  union all
                  select name from readpast_schedule where :name is null)
   and s.queue = coalesce(:queue, s.queue)
 order by s.name;
