-- outcomes: tell whether jobs have ended, and how.
-- ids: the jobs.
-- queue_ids: for each job the queue_id that an earlier call returned for it, or null.
-- Rows: one for each job, in any order.
--   number: the job's position in `ids`.
--   state: 0 live, 4 done, 5 dead, 6 cancelled. -6 if the job was live when its queue
--     was dropped. Null if the job is finished but was not kept, or if there never was
--     such a job.
--   queue_id, queue, claim_no: the queue and the claim number of a live job.
--   is_open: true if a transaction that may still be open has changed or locked the row
--     of a live job, perhaps to settle the job. (The routine counts a transaction as
--     open if its id is not smaller than the id of the oldest open transaction.)
-- Locks: none.

create function readpast.outcomes(ids bigint[], queue_ids bigint[])
returns table (number bigint, state integer, queue_id integer, queue text,
               claim_no bigint, is_open boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
	oldest bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint
	                 & 4294967295;
begin
	return query
	select v.number,
	       case when j.id is not null then 0
	            when a.id is not null then a.state
	            when v.queue_id is not null
	                 and not exists (select 1 from readpast.queue q
	                                  where q.id = v.queue_id) then -6 end,
	       j.queue_id, q.name, j.claim_no,
	       j.xmax::text <> '0'
	       and j.xmax::text::bigint - oldest & 4294967295 < 2147483648
	  from unnest(ids, queue_ids) with ordinality as v(id, queue_id, number)
	  left join readpast.job j on j.id = v.id
	  left join readpast.archive a on a.id = v.id
	  left join readpast.queue q on q.id = j.queue_id;
end
$body$;
