-- answer_get: return the answer that was stored for a request with an idempotency key, if
-- its time is not over.

select hash, answer from readpast.answer
 where name operator(pg_catalog.=) :name
   and until operator(pg_catalog.>) pg_catalog.clock_timestamp();
