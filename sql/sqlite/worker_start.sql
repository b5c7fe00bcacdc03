-- worker_start: a worker says that it is there.

insert into readpast_worker (name, host, pid, queues, started_at, seen_at)
values (:name, :host, :pid, :queues, :now, :now);

-- answer:
select last_insert_rowid() as id;
