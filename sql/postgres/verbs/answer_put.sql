-- answer_put: store, for 24 hours, the answer to a request with an idempotency key. If
-- the key already has an answer whose time is not over, nothing changes, and no row is
-- returned.

insert into readpast.answer as a (name, hash, answer, until)
values (:name, :hash, :answer,
        pg_catalog.clock_timestamp()
        operator(pg_catalog.+) '24 hours'::interval)
    on conflict (name) do update
   set hash = excluded.hash, answer = excluded.answer, until = excluded.until
 where a.until operator(pg_catalog.<=) pg_catalog.clock_timestamp()
returning name;
