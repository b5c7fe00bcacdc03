-- tally: count the jobs that a client has finished since its last call of this verb, by
-- adding :done and :failed to the counts of the second :ago_ms ago. A client calls this
-- about once a second, in a transaction that it commits anyway.

insert into readpast_tally (queue_id, second, done, failed)
values (:queue_id, (:now - :ago_ms) / 1000, :done, :failed)
on conflict do update set done = done + excluded.done,
                          failed = failed + excluded.failed;
