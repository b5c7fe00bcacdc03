-- refused: why a verdict was. cancelled: the claim it names was; issued: there
-- was a job of this id once.

-- answer:
select exists (select 1 from readpast_archive
                where id = :id and claim_no = :claim_no and state = 6)
       as cancelled,
       :id <= (select seq from sqlite_sequence where name = 'readpast_job')
       as issued;
