-- group_users: tell which jobs have the slots of a group. A slot is the right of one
-- job to run.
-- queue_id, group_key: the group.
-- Result:
--   busy: how many jobs have a slot.
--   next: a JSON object about one of these jobs, see group_next of why_limited().
-- Locks: none.

create function readpast.group_users(queue_id integer, group_key text,
                                     out busy bigint, out next text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	busy := (select count(*) from readpast.group_slot s
	          where s.queue_id = group_users.queue_id
	            and s.group_key = group_users.group_key);
	next := (select json_build_object(
	                    'id', l.id, 'state', readpast.state_word(l.state),
	                    'since', readpast.epoch_ms(coalesce(l.claimed_at, l.run_at)),
	                    'worker', l.worker,
	                    'host', (select w.host from readpast.worker w
	                              where w.id = j.worker_id))::text
	           from readpast.group_slot s
	           join readpast.job j on j.id = s.job_id
	           join readpast.live l on l.id = s.job_id
	          where s.queue_id = group_users.queue_id
	            and s.group_key = group_users.group_key
	          order by j.lease_until is null, j.claim_no
	          limit 1);
end
$body$;
