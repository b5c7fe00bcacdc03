-- enqueue: insert jobs of one queue that have the same priority, time and number of
-- attempts, and no group. They are added at the end of their lane (the ready jobs of
-- one queue, priority and class), or they are scheduled.
-- Nothing is inserted and no row is returned if a payload is larger than the queue
-- allows, or if headers are not a JSON object.
-- :largest is the size of the largest payload. :with_headers is 1 if any of the jobs
-- has headers. :with_terms is 1 if the jobs have their own expiry, backoff, time-out or
-- keep_ms (how long a done job is kept).
-- SQLite must be able to undo a statement that may fail half-way, so it copies each page
-- that such a statement changes. The insert avoids these copies, because it calls no
-- function and uses `or fail`. If the insert fails, the caller rolls the transaction
-- back.
-- :ids_before is null if SQLite is to choose the ids. Otherwise the ids are :ids_before
-- + 1, :ids_before + 2 and so on, which the connection has reserved
-- (lib/db/sqlite/ids.c).

select q.id as queue_id, coalesce(:priority, q.priority) as priority,
       coalesce(:max_attempts, q.max_attempts) as max_attempts,
       iif(:run_at > :now, :run_at, :now + coalesce(:delay_ms, 0)) as run_at,
       iif(:delay_ms > 0 or :run_at > :now, null,
           coalesce((select seq from readpast_job
                      where queue_id = q.id
                        and priority = coalesce(:priority, q.priority)
                        and class = 2 and seq is not null
                      order by seq desc limit 1), 0)) as last_seq,
       :largest > :most_in_row as apart,
       :with_terms as with_terms
  from readpast_queue q
 where q.name = :queue
   and :largest <= q.max_payload
   and (not :with_headers
        or not exists (select 1 from readpast_enqueue_rows(:rows) r
                        where r.headers is not null
                          and iif(json_valid(r.headers),
                                  json_type(r.headers) <> 'object', true)));

-- Most jobs have none of these settings. Then the insert gets null for both columns.
-- if @with_terms:
select :now + :expire_ms as expire_at,
       json_patch('{}', json_object(
           'keep_ms', :keep_ms, 'timeout_ms', :timeout_ms,
           'backoff', :backoff)) as extra;

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
