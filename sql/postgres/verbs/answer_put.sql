-- answer_put: store the answer to a request with an idempotency key for 24 hours. If another
-- answer is stored already, nothing changes, and no row is returned.

insert into readpast.answer (name, hash, answer, until)
values (:name, :hash, :answer,
        pg_catalog.clock_timestamp()
        operator(pg_catalog.+) '24 hours'::interval)
    on conflict do nothing
returning name;
