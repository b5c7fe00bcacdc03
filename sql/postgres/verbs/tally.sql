-- tally: what a client finished since its last tally. Clients write one at most once
-- a second, in a commit that they make anyway.

insert into readpast.tally (second, queue_id, done, failed)
values (extract(epoch from pg_catalog.clock_timestamp())::bigint,
        :queue_id::bigint::integer, :done::bigint, :failed::bigint);
