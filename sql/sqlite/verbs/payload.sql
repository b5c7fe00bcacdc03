-- payload: the payload of a job that the caller claimed and still holds, if it is
-- stored apart.

-- answer:
select p.payload
  from readpast_job j
  join readpast_payload p on p.id = j.id
 where j.id = :id and j.claim_no = :claim_no;
