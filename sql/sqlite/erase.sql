-- erase: forget jobs, live ones that nobody holds or kept ones (:kept), if they
-- are what they were: the claim number says so.

-- answer:
select :id as id
 where exists (select 1 from readpast_job
                where not :kept and id = :id and claim_no = :claim_no
                  and lease_until is null)
    or exists (select 1 from readpast_archive
                where :kept and id = :id and claim_no = :claim_no);

delete from readpast_job where not :kept and id = @id;

delete from readpast_archive where :kept and id = @id;
