-- hold_of: stub

-- answer:
select id from readpast_job where id = :id and claim_no = :claim_no and :whole = :for_ms;
