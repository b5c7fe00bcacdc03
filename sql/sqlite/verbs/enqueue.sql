-- enqueue: insert jobs of one queue that have the same priority, time and number of
-- attempts, and no group. They are added at the end of their lane (the ready jobs of
-- one queue, priority and class), or they are scheduled.
-- Nothing is inserted and no row is returned if a payload is larger than the queue
-- allows, or if headers are not a JSON object.
-- :largest is the size of the largest payload. :with_headers is 1 if any of the jobs
-- has headers.
-- SQLite must be able to undo a statement that may fail half-way, so it copies each page
-- that such a statement changes. The insert avoids these copies, because it calls no
-- function and uses `or fail`. If the insert fails, the caller rolls the transaction
-- back.
-- :ids_before is null if SQLite is to choose the ids. Otherwise the ids are :ids_before
-- + 1, :ids_before + 2 and so on, which the connection has reserved
-- (lib/db/sqlite/ids.c).

select
-- include new_jobs
  from readpast_queue q
 where q.name = :queue
   and :largest <= q.max_payload
   and (not :with_headers
        or not exists (select 1 from readpast_enqueue_rows(:rows) r
                        where r.headers is not null
                          and iif(json_valid(r.headers),
                                  json_type(r.headers) <> 'object', true)));

-- include new_terms

-- answer batch:
insert or fail into readpast_job (id, queue_id, priority, seq, run_at,
                                  max_attempts, created_at, kind, headers,
                                  payload, expire_at, extra)
select :ids_before + r.number, @queue_id, @priority, @last_seq + r.number,
       @run_at, @max_attempts, :now, r.kind, r.headers, r.payload,
       @expire_at, @extra
  from readpast_enqueue_rows(:rows) r;

-- Read the ids now, because the insert of the payloads changes last_insert_rowid().
-- if @apart:
select last_insert_rowid() - count(*) as before
  from readpast_enqueue_rows(:rows) r;

-- if @apart:
insert or fail into readpast_payload (id, payload)
select @before + r.number, r.apart
  from readpast_enqueue_rows(:rows) r
 where r.apart is not null;
