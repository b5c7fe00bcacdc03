-- worker_start: register a worker.

insert into readpast_worker (name, host, pid, queues, kinds, started_at,
                             seen_at)
values (:name, :host, :pid, :queues, :kinds, :now, :now);

-- answer:
select last_insert_rowid() as id;
