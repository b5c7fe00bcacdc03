-- schedule_list: list schedules, sorted by name. If :name is not null, only the
-- schedule of that name is listed. If :queue is not null, only the schedules of that
-- queue are listed.
-- last_state: the state of the job that the schedule enqueued last. Null if the
-- schedule has enqueued no job, or if that job no longer exists.

select s.id, s.name, s.queue, s.spec, s.zone, s.content, s.kind,
       s.headers::pg_catalog.text as headers, s.priority, s.missed, s.overlap,
       s.anchor, s.next_at, s.last_at, s.last_job_id,
       coalesce((select l.state from readpast.live l
                  where l.id operator(pg_catalog.=) s.last_job_id),
                (select k.state from readpast.kept k
                  where k.id operator(pg_catalog.=) s.last_job_id))
       as last_state,
       s.last_error, s.paused_at, s.created_at
  from readpast.schedule s
 where s.name operator(pg_catalog.=) coalesce(:name, s.name)
   and s.queue operator(pg_catalog.=) coalesce(:queue, s.queue)
 order by s.name;
