-- locked_jobs: list those of the jobs :id[] that another transaction has locked. The
-- statement locks the other jobs, so that its own transaction can settle them without
-- waiting.

select n.number, n.id
  from pg_catalog.unnest(:id[]::bigint[]) with ordinality as n(id, number)
 where exists (select 1 from readpast.job j
                where j.id operator(pg_catalog.=) n.id)
   and n.id operator(pg_catalog.<>) all (array(
           select j.id
             from readpast.job j
            where j.id operator(pg_catalog.=) any (:id[]::bigint[])
            order by j.id
              for update skip locked));
