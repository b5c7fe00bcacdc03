-- worker_start: a worker says that it is there.

insert into readpast.worker (name, host, pid, queues, kinds, started_at,
                             seen_at)
values (:name, :host, :pid, :queues::pg_catalog.text::pg_catalog.jsonb,
        :kinds::pg_catalog.text::pg_catalog.jsonb,
        pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp())
returning id;
