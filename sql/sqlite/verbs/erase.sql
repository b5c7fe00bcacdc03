-- erase: forget jobs, live ones that nobody holds or kept ones (:kept), if they
-- are what they were: the claim number says so.

-- answer:
select id, 1 as live, 0 as kept, payload < '' as apart
  from readpast_job
 where not :kept and id = :id and claim_no = :claim_no and lease_until is null
union all
select id, 0, 1, payload < ''
  from readpast_archive
 where :kept and id = :id and claim_no = :claim_no;

-- if @live:
delete from readpast_job where id = @id;
-- if @kept:
delete from readpast_archive where id = @id;
-- if @apart:
delete from readpast_payload where id = @id;
