-- worker_start: a worker says that it is there.

insert into readpast.worker (name, host, pid, queues, kinds, started_at,
                             seen_at)
values (:name::text, :host::text, :pid::bigint, :queues::text::jsonb,
        :kinds::text::jsonb,
        clock_timestamp(), clock_timestamp())
returning id;
