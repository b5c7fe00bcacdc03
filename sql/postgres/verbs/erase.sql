-- erase: delete jobs, unless they have changed since the caller read them. A job is
-- unchanged if its claim number is still :claim_no. If :kept is 1, the job is deleted
-- from the archive. If :kept is 0, the job is deleted from the live jobs, unless it is
-- running.

with live as (
    delete from readpast.job j
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept operator(pg_catalog.=) 0 and j.id operator(pg_catalog.=) n.id
       and j.claim_no operator(pg_catalog.=) n.claim_no
       and j.lease_until is null
    returning n.number, j.id),
kept as (
    delete from readpast.archive a
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept operator(pg_catalog.=) 1 and a.id operator(pg_catalog.=) n.id
       and a.claim_no operator(pg_catalog.=) n.claim_no
    returning n.number, a.id)
select number, id from live
union all
select number, id from kept;
