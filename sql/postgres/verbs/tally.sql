-- tally: record how many jobs of a queue a client has finished since its last run of
-- this statement. A client runs this statement at most once a second, in a transaction
-- that it commits anyway.

insert into readpast.tally (second, queue_id, done, failed)
values (extract(epoch from pg_catalog.clock_timestamp())::bigint,
        :queue_id::bigint::integer, :done::bigint, :failed::bigint);
