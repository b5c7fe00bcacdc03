-- kept: list the ids of the kept jobs that match a filter, by state, newest first. The
-- query examines the newest :looks jobs of each state, or all jobs if :every is not 0.
-- If jobs were left that the query did not examine, the result ends with a row without
-- an id.
-- :states is a bit set: the bit 1 << N selects the state with the number N. :before is
-- a time in milliseconds since 1970. Jobs that were enqueued later than :before do not
-- match. If :queues, a JSON list of names, is not null, only jobs of these queues are
-- examined.

with wanted as materialized (
    select q.id
      from queue q
     where (:queue::text is null or q.name = :queue::text)
       and (:queues::text is null
            or q.name in (select jsonb_array_elements_text(:queues::text::jsonb)))),
-- The newest few jobs of each queue are sorted by time, and `since` is the time of the job
-- with the number :looks + 1. No job to examine is older than that. Without this bound,
-- :looks jobs of each queue would be read.
since(state, finished_at) as materialized (
    select s.state, a.finished_at
      from (values (4), (5), (6)) as s(state)
     cross join lateral (
           select a.finished_at
             from wanted q
            cross join lateral (
                  select a.finished_at
                    from archive a
                   where a.queue_id = q.id and a.state = s.state
                   order by a.finished_at desc, a.id desc
                   limit 2 * :looks::bigint / (select count(*) from wanted) + 1) a
            order by a.finished_at desc
           offset :looks::bigint limit 1) a
     where :every::bigint = 0 and :states::bigint & (1 << s.state) <> 0),
looked as materialized (
    select s.state, a.id
      from (values (4), (5), (6)) as s(state)
     cross join lateral (
           select a.id
             from wanted q
            cross join lateral (
                  select a.id, a.finished_at
                    from archive a
                   where a.queue_id = q.id and a.state = s.state
                     and a.finished_at >= coalesce((select f.finished_at from since f
                                                     where f.state = s.state), '-infinity')
                   order by a.finished_at desc, a.id desc
                   limit case when :every::bigint = 0
                              then :looks::bigint + 1 end) a
            order by a.finished_at desc, a.id desc
            limit case when :every::bigint = 0
                       then :looks::bigint + 1 end) a
     where :states::bigint & (1 << s.state) <> 0)
select f.id, f.state
  from (select a.id, l.state, a.finished_at
          from looked l
         cross join lateral (
               -- OFFSET 0 makes the planner look up each job by its id. Otherwise
               -- it would join the ids with the whole table.
               select a.id, a.finished_at
                 from archive a
                where a.id = l.id
                  and (:kind::text is null or a.kind = :kind::text)
                  and (:group::text is null
                       or a.group_key = :group::text)
                  and (:key::text is null or a.unique_key = :key::text)
                  and (:error::text is null
                       or strpos(a.last_error, :error::text) > 0)
                  and (:before::bigint is null
                       or a.created_at <= to_timestamp(:before::bigint / 1000.0))
               offset 0) a
        union all
        select null, null, null
         where :every::bigint = 0
           and exists (select from looked
                        group by state
                       having count(*) > :looks::bigint)) f
 order by f.id is null, f.state, f.finished_at desc, f.id desc;
