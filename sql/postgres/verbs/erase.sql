-- erase: delete jobs, unless they have changed since the caller read them. A job is
-- unchanged if its claim number is still :claim_no. If :kept is 1, the job is deleted
-- from the archive. If :kept is 0, the job is deleted from the live jobs, unless it is
-- running. Groups admit their next jobs only after all jobs of the call are deleted,
-- because the next job of a group may be one of these jobs. So the statement first
-- collects the deleted jobs in arrays.

with live as (
    delete from readpast.job j
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept operator(pg_catalog.=) 0 and j.id operator(pg_catalog.=) n.id
       and j.claim_no operator(pg_catalog.=) n.claim_no
       and j.lease_until is null
    returning n.number, j.id, j.queue_id,
              readpast.priority_of(j.lane_id) as priority, j.group_key,
              j.came),
admitted as (
    select readpast.leave_group(n.queue_id, n.priority, n.group_key, n.came, n.id)
      from (select pg_catalog.array_agg(queue_id) as queue_ids,
                   pg_catalog.array_agg(priority) as priorities,
                   pg_catalog.array_agg(group_key) as group_keys,
                   pg_catalog.array_agg(came) as cames,
                   pg_catalog.array_agg(id) as ids
              from live
             where group_key is not null) l
     cross join lateral (
           select l.queue_ids[i] as queue_id, l.priorities[i] as priority,
                  l.group_keys[i] as group_key, l.cames[i] as came, l.ids[i] as id
             from pg_catalog.generate_subscripts(l.ids, 1) as i) n),
kept as (
    delete from readpast.archive a
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept operator(pg_catalog.=) 1 and a.id operator(pg_catalog.=) n.id
       and a.claim_no operator(pg_catalog.=) n.claim_no
    returning n.number, a.id)
select l.number, l.id from live l
 cross join (select pg_catalog.count(*) from admitted) as groups
union all
select number, id from kept;
