-- purge: delete those of the jobs :id[] that are still in the state :state and of the
-- kind :kind (null: any kind). Jobs that another transaction has locked are skipped.
-- Clients that wait for the end of one of the deleted live jobs are notified. The
-- groups of the deleted jobs admit their next jobs, after all jobs of the call are
-- deleted (see erase.sql).

with live as (
    delete from readpast.job
     where id operator(pg_catalog.=) any (
               select id
                 from readpast.job
                where id operator(pg_catalog.=) any (:id[]::bigint[])
                  and lease_until is null
                  and :state::bigint operator(pg_catalog.=) any ('{1, 2, 7}')
                  and readpast.is_waiting(seq, run_at)
                      operator(pg_catalog.=)
                      (:state::bigint operator(pg_catalog.>) 1)
                  and (:kind::pg_catalog.text is null
                       or kind operator(pg_catalog.=) :kind)
                  for update skip locked)
    returning id, queue_id, readpast.priority_of(lane_id) as priority, group_key, came),
kept as (
    delete from readpast.archive
     where id operator(pg_catalog.=) any (
               select id
                 from readpast.archive
                where id operator(pg_catalog.=) any (:id[]::bigint[])
                  and state operator(pg_catalog.=) :state::bigint
                  and (:kind::pg_catalog.text is null
                       or kind operator(pg_catalog.=) :kind)
                  for update skip locked)
    returning id),
notified as (
    select readpast.notify_job_waiters(pg_catalog.array_agg(id))
      from live
    having pg_catalog.count(*) operator(pg_catalog.>) 0),
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
             from pg_catalog.generate_subscripts(l.ids, 1) as i) n)
select n.number, n.id
  from pg_catalog.unnest(:id[]::bigint[]) with ordinality as n(id, number)
 cross join (select pg_catalog.count(*) from notified) as waiters
 cross join (select pg_catalog.count(*) from admitted) as groups
 where n.id operator(pg_catalog.=) any (select id from live
                                         union all
                                        select id from kept);
