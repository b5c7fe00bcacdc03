-- worker_start: register a worker.

insert into readpast.worker (name, host, pid, queues, kinds, started_at,
                             seen_at)
values (:name, :host, :pid, :queues::pg_catalog.text::pg_catalog.jsonb,
        :kinds::pg_catalog.text::pg_catalog.jsonb,
        pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp())
returning id;
