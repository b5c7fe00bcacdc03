-- answer_get: return the answer that was stored for a request with an idempotency key.

select hash, answer from readpast.answer
 where name operator(pg_catalog.=) :name;
