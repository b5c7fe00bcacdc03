-- answer_get: return the answer that was stored for a request with an idempotency key, if
-- its time is not over.

-- answer:
select hash, answer from readpast_answer where name = :name and until > :now;
