-- refused: find out why a verdict was refused. cancelled is 1 if the job was cancelled
-- while the claim :claim_no held it. issued is 1 if the id :id was ever given to a job.

-- answer:
select exists (select 1 from readpast_archive
                where id = :id and claim_no = :claim_no and state = 6)
       as cancelled,
       :id <= (select seq from sqlite_sequence where name = 'readpast_job')
       as issued;
