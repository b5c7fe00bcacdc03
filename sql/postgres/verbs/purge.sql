-- purge: delete those of the jobs :id[] that are still in the state :state and of the
-- kind :kind (null: any kind). Jobs that another transaction has locked are skipped.
-- Clients that wait for the end of one of the deleted live jobs are notified.

with live as (
    delete from readpast.job
     where id operator(pg_catalog.=) any (
               select id
                 from readpast.job
                where id operator(pg_catalog.=) any (:id[]::bigint[])
                  and lease_until is null
                  and :state::bigint operator(pg_catalog.<) 3
                  and (seq is not null
                       or run_at
                          operator(pg_catalog.<=) pg_catalog.clock_timestamp())
                      operator(pg_catalog.=)
                      (:state::bigint operator(pg_catalog.=) 2)
                  and (:kind::pg_catalog.text is null
                       or kind operator(pg_catalog.=) :kind)
                  for update skip locked)
    returning id),
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
    having pg_catalog.count(*) operator(pg_catalog.>) 0)
select n.number, n.id
  from pg_catalog.unnest(:id[]::bigint[]) with ordinality as n(id, number)
 cross join (select pg_catalog.count(*) from notified) as waiters
 where n.id operator(pg_catalog.=) any (select id from live
                                         union all
                                        select id from kept);
