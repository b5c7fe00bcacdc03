-- purge: delete a job if it is in the state :state and of the kind :kind (null: any
-- kind).

-- answer:
select id, 1 as live, 0 as kept, payload < '' as apart
  from readpast_job
 where id = :id and lease_until is null
   and iif(seq is not null or run_at <= :now, 2, 1) = :state
   and (:kind is null or kind = :kind)
union all
select id, 0, 1, payload < ''
  from readpast_archive
 where id = :id and state = :state and (:kind is null or kind = :kind);

-- if @live:
delete from readpast_job where id = @id;
-- if @kept:
delete from readpast_archive where id = @id;
-- if @apart:
delete from readpast_payload where id = @id;
