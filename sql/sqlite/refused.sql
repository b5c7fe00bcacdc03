-- refused: why a verdict was: was the claim it names cancelled?

-- answer:
select 1 as cancelled
  from readpast_archive
 where id = :id and claim_no = :claim_no and state = 6;
