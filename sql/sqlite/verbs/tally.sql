-- tally: what a client finished since its last tally. Clients write one at most once
-- a second, in a commit that they make anyway.

insert into readpast_tally (queue_id, second, done, failed)
values (:queue_id, :now / 1000, :done, :failed)
on conflict do update set done = done + excluded.done,
                          failed = failed + excluded.failed;
