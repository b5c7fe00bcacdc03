-- live: list the ids of the live jobs that match a filter, first the running ones, then
-- the due ones in the order in which claims take them, then those that wait for their
-- group, and then the scheduled ones. The query examines the first :looks jobs of each
-- state. If jobs were left that the query did not examine, the result ends with a row
-- without an id. If :key is given, the query finds the job by the index of unique keys
-- instead. If :every is not 0, the query examines all jobs.
-- These include ready jobs before the position where claims start. (Claims find such a
-- job only after the next sweep has moved it.)
-- :states is a bit set: the bit 1 << N selects the state with the number N. :before is
-- a time in milliseconds since 1970. Jobs that were enqueued later than :before do not
-- match. If :queues, a JSON list of names, is not null, only jobs of these queues are
-- examined.

with it as materialized (
    select q.id,
           (q.run_limit > 0 or q.rate_count > 0 or q.held_until is not null)
           and is_full(q.id) as is_full
      from queue q
     where (:queue::text is null or q.name = :queue::text)
       and (:queues::text is null
            or q.name in (select jsonb_array_elements_text(:queues::text::jsonb)))),
every as materialized (
    select j.id,
           state_of(f.j, q) as state, j.seq
      from (select j
              from it join job j
                on j.lane_id between first_lane(it.id) and last_lane(it.id)
             where :every::bigint <> 0 and :key::text is null
               and j.seq is not null
            union all
            select j
              from it join job j
                on (j.queue_id, j.run_at) >= (it.id, '-infinity')
               and (j.queue_id, j.run_at) < (it.id, 'infinity')
             where :every::bigint <> 0 and :key::text is null
               and j.seq is null and j.run_at < 'infinity'
            union all
            select o.j
              from it join group_wait w on w.queue_id = it.id
             cross join lateral (
                   select j from job j where j.id = w.job_id offset 0) o
             where :every::bigint <> 0 and :key::text is null
            union all
            select j
              from it join job j
                on j.queue_id = it.id and j.unique_key = :key::text) f
     cross join lateral (select (f.j).*) j
      join queue q on q.id = j.queue_id),
looked(part, state, id) as materialized (
    select case when e.state = 3 then 1 when e.state = 1 then 5
                when e.seq is not null then 2 when e.state = 2 then 3
                else 4 end, e.state, e.id
      from every e
     where :states::bigint & (1 << e.state) <> 0
    union all
    select 1, 3, r.id
      from it cross join lateral running_in(it.id, :looks::bigint) as r
     where :states::bigint & 8 <> 0
       and :every::bigint = 0 and :key::text is null
    union all
    (select 2, case when it.is_full then 7 else 2 end, r.id
       from it cross join lateral ready_in(it.id, :looks::bigint + 1) as r
      where :states::bigint & case when it.is_full then 128 else 4 end <> 0
        and :every::bigint = 0 and :key::text is null
      limit :looks::bigint + 1)
    union all
    (select 3, case when it.is_full then 7 else 2 end, r.id
       from it
      cross join lateral scheduled_in(it.id, true, :looks::bigint + 1) as r
      where :states::bigint & case when it.is_full then 128 else 4 end <> 0
        and :every::bigint = 0 and :key::text is null
      limit :looks::bigint + 1)
    union all
    (select 4, 7, r.id
       from it
      cross join lateral blocked_in(it.id, :looks::bigint + 1) as r
      where :states::bigint & 128 <> 0
        and :every::bigint = 0 and :key::text is null
      limit :looks::bigint + 1)
    union all
    (select 5, 1, r.id
       from it
      cross join lateral scheduled_in(it.id, false, :looks::bigint + 1) as r
      where :states::bigint & 2 <> 0
        and :every::bigint = 0 and :key::text is null
      limit :looks::bigint + 1))
select f.id, f.state
  from (select l.part, l.state, j.id,
               case l.part when 4 then j.queue_id end as queue_id,
               case l.part when 4 then j.group_key end as group_key,
               case l.part when 1 then 0 when 2 then j.lane_id
                           when 4 then priority_of(j.lane_id) end as lane,
               case l.part when 1 then j.claim_no when 2 then j.seq
                           when 4 then j.came end as place,
               j.run_at
          from looked l
         cross join lateral (
               -- OFFSET 0 makes the planner look up each job by its id. Otherwise
               -- it would join the ids with the whole table.
               select j.id, j.queue_id, j.group_key, j.lane_id, j.claim_no,
                      j.seq, j.came, j.run_at
                 from job j
                where j.id = l.id
                  and (:kind::text is null or j.kind = :kind::text)
                  and (:group::text is null
                       or j.group_key = :group::text)
                  and (:error::text is null
                       or strpos(j.last_error, :error::text) > 0)
                  and (:before::bigint is null
                       or j.created_at <= to_timestamp(:before::bigint / 1000.0))
               offset 0) j
        union all
        select 6, null, null, null, null, null, null, null
         where :every::bigint = 0
           and (exists (select from looked where id is null)
                or exists (select from looked
                            where part > 1
                            group by part
                           having count(*) > :looks::bigint))) f
 order by f.part, f.queue_id, f.group_key, f.lane, f.place, f.run_at, f.id;
