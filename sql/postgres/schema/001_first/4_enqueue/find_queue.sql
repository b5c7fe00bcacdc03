-- find_queue: return the values of a queue's row that are needed to insert jobs. The
-- planner inlines this function into the calling statement.
-- queue: the name of the queue.
-- priority: the priority of the jobs. Null: the queue's own.
-- largest: the size of the largest payload, in bytes.
-- Rows: one, or none if there is no such queue or the payload is too large for the
-- queue.
--   lane_id: the lane of the new jobs (a queue, a priority and a class, see
--     lane_of()).
--   is_open: true if the lane is open, which means that claims look for jobs in it.
--     The lane of the queue's own priority is always open, because a trigger opens it.
--   waiters_until: after this time no worker waits for a notification about the queue.
-- Locks: none.

create function readpast.find_queue(queue text, priority integer,
                                    largest bigint)
returns table (id integer, lane_id bigint, is_open boolean,
               max_attempts integer, waiters_until timestamptz)
language sql stable as $body$
select q.id,
       case when find_queue.priority is null then q.lane_id
            else readpast.lane_of(q.id, find_queue.priority, 2) end,
       find_queue.priority is null
       or exists (select 1
                    from readpast.lane l
                   where l.lane_id operator(pg_catalog.=)
                         readpast.lane_of(q.id, find_queue.priority, 2)),
       q.max_attempts, q.waiters_until
  from readpast.queue q
 where q.name operator(pg_catalog.=) find_queue.queue
   and find_queue.largest operator(pg_catalog.<=) q.max_payload
$body$;
