-- refused: why a verdict was refused. cancelled: the claim that it names was cancelled;
-- issued: this id was given to a job once.

-- answer:
select exists (select 1 from readpast_archive
                where id = :id and claim_no = :claim_no and state = 6)
       as cancelled,
       :id <= (select seq from sqlite_sequence where name = 'readpast_job')
       as issued;
