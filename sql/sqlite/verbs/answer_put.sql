-- answer_put: store the answer to a request with an idempotency key for 24 hours. If another
-- answer is stored already, nothing changes, and no row is returned.

-- answer:
insert into readpast_answer (name, hash, answer, until)
values (:name, :hash, :answer, :now + 86400000)
    on conflict do nothing
returning name;
