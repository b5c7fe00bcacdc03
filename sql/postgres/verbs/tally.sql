-- tally: add the number of jobs that a client has finished since its last tally. A
-- client does this at most once a second, in a commit that it makes anyway.

insert into readpast.tally (second, queue_id, done, failed)
values (extract(epoch from pg_catalog.clock_timestamp())::bigint,
        :queue_id::bigint::integer, :done::bigint, :failed::bigint);
