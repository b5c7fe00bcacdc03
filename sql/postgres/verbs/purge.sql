-- purge: delete those of the jobs :id[] that are still in the state :state and of the
-- kind :kind (null: any kind). Jobs that another transaction has locked are skipped.
-- Clients that wait for the end of one of the deleted live jobs are notified, and their
-- groups admit the next jobs, after all jobs of the call are deleted (see erase.sql).

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
    returning id, queue_id, (extra).group_key),
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
    select readpast.leave_group(n.queue_id, n.group_key, n.id)
      from (select pg_catalog.array_agg(queue_id) as queue_ids,
                   pg_catalog.array_agg(group_key) as group_keys,
                   pg_catalog.array_agg(id) as ids
              from live
             where group_key is not null) l
     cross join unnest(l.queue_ids, l.group_keys, l.ids)
                as n(queue_id, group_key, id))
select n.number, n.id
  from pg_catalog.unnest(:id[]::bigint[]) with ordinality as n(id, number)
 cross join (select pg_catalog.count(*) from notified) as waiters
 cross join (select pg_catalog.count(*) from admitted) as groups
 where n.id operator(pg_catalog.=) any (select id from live
                                         union all
                                        select id from kept);
