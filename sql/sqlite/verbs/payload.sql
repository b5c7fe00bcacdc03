-- payload: return the payload of a job if the payload is in readpast_payload and the
-- caller still holds the job with the claim number :claim_no.

-- answer:
select p.payload
  from readpast_job j
  join readpast_payload p on p.id = j.id
 where j.id = :id and j.claim_no = :claim_no;
