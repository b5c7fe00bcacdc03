-- answer_put: store the answer to a request with an idempotency key for 24 hours. If another
-- answer is stored already, and its time is not over, nothing changes, and no row is returned.

-- answer:
insert into readpast_answer (name, hash, answer, until)
values (:name, :hash, :answer, :now + 86400000)
    on conflict (name) do update
   set hash = excluded.hash, answer = excluded.answer, until = excluded.until
 where readpast_answer.until <= :now
returning name;
