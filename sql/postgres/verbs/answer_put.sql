-- answer_put: store, for 24 hours, the answer to a request with an idempotency key. If
-- the key already has an answer, nothing changes, and no row is returned.

insert into readpast.answer (name, hash, answer, until)
values (:name, :hash, :answer,
        pg_catalog.clock_timestamp()
        operator(pg_catalog.+) '24 hours'::interval)
    on conflict do nothing
returning name;
