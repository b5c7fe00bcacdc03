-- running_in: list the running jobs of a queue that live_parts() reads.
-- queue_id: the queue.
-- most: the parameter of live_parts().
-- Rows: the jobs. If there may be more running jobs than these, there is also at least
-- one row without an id.
-- Locks: none.

create function readpast.running_in(queue_id integer, most bigint)
returns table (id bigint, claim_no bigint, worker_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	return query
	select h.id, h.claim_no, h.worker_id
	  from readpast.live_parts(running_in.queue_id, most) p,
	       lateral (select *
	                  from unnest(p.ids, p.claim_nos, p.worker_ids)
	                       as h(id, claim_no, worker_id)
	                union all
	                select null, null, null where p.more_running) h;
end
$body$;
