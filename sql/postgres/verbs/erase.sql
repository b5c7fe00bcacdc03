-- erase: delete jobs, unless they have changed since the caller read them. A job is
-- unchanged if its claim number is still :claim_no. If :kept is 1, the job is deleted
-- from the archive. If :kept is 0, the job is deleted from the live jobs, unless it is
-- running. The groups of live jobs admit their next jobs after all jobs of the call are
-- deleted, because these may be the next ones. So the ids are collected in arrays first.

with live as (
    delete from readpast.job j
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept operator(pg_catalog.=) 0 and j.id operator(pg_catalog.=) n.id
       and j.claim_no operator(pg_catalog.=) n.claim_no
       and j.lease_until is null
    returning n.number, j.id, j.queue_id, (j.extra).group_key),
admitted as (
    select readpast.leave_group(n.queue_id, n.group_key, n.id)
      from (select pg_catalog.array_agg(queue_id) as queue_ids,
                   pg_catalog.array_agg(group_key) as group_keys,
                   pg_catalog.array_agg(id) as ids
              from live
             where group_key is not null) l
     cross join unnest(l.queue_ids, l.group_keys, l.ids)
                as n(queue_id, group_key, id)),
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
