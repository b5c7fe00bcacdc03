-- requests_start: return where the search for the recheck requests of a queue starts, as
-- its newest cursor says, see the table group_cursor.
-- queue_id: the queue.
-- Rows: one. past, open, last_id: see the table. If there is no cursor that counts, the
--   row stands for a search that reads all requests. The function is `stable` and returns
--   a table, so that the planner can inline it into the calling query.
-- Locks: none.

create function readpast.requests_start(queue_id integer)
returns table (past xid8, open xid8[], last_id bigint)
language sql stable
as $body$
select coalesce(c.past, '0'::pg_catalog.xid8),
       coalesce(c.open, '{}'::pg_catalog.xid8[]),
       coalesce(c.last_id, 0)
  from (select) always
  left join (select c.past, c.open, c.last_id, c.server
               from readpast.group_cursor c
              where c.queue_id operator(pg_catalog.=) requests_start.queue_id
              order by c.queue_id, c.last_id desc
              limit 1) c
    on c.server operator(pg_catalog.=) pg_catalog.pg_postmaster_start_time()
$body$;
