-- erase: forget jobs, live ones that nobody holds or kept ones (:kept), if they
-- are what they were: the claim number says so.

with live as (
    delete from readpast.job j
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept = 0 and j.id = n.id and j.claim_no = n.claim_no
       and j.lease_until is null
    returning n.number, j.id),
kept as (
    delete from readpast.archive a
     using unnest(:id[]::bigint[], :claim_no[]::bigint[], :kept[]::bigint[])
           with ordinality as n(id, claim_no, kept, number)
     where n.kept = 1 and a.id = n.id and a.claim_no = n.claim_no
    returning n.number, a.id)
select number, id from live
union all
select number, id from kept;
