-- replace_live: replace the content of a live job that is not running. A worker whose
-- lease on the job ran out may still send a verdict about the old content. The routine
-- increases the job's claim number, so that this verdict is refused.
-- id: the job, which lock_live() has locked for key share.
-- lane_id .. group_key: the new content.
-- is_due: true to make the job ready, false to schedule it.
-- Result: 2 if the job was replaced, 1 if it is running and was left alone.
-- Locks: the job's row, for which the call may wait. If the job has a group, also the
-- rows that leave_group() locks.

create function readpast.replace_live(
	id bigint, lane_id bigint, due timestamptz, is_due boolean,
	max_attempts integer, kind text, headers json, payload bytea,
	extra readpast.extra, group_key text)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	-- True if the queue has a group limit or a held group.
	groups_count boolean := (
		select q.group_limit > 0 or coalesce(q.holds_until > clock_timestamp(), false)
		  from readpast.queue q
		 where q.id = readpast.queue_of(replace_live.lane_id));
begin
	-- Another transaction may be replacing the job, too. Wait until it ends, so that the
	-- statements below see its version.
	perform 1 from readpast.job j where j.id = replace_live.id for no key update;
	-- A job that has no group before and after the change is changed in the first
	-- turn of the loop. For any other job the first turn only calls leave_place(), and
	-- the second turn makes the change.
	for turn in 1 .. 2 loop
		update readpast.job j
		   set lane_id = replace_live.lane_id,
		       -- A job in the ready line keeps its number if it stays in its lane, and,
		       -- if groups count, in its group. A job with a run_at of infinity waits for
		       -- its group. It stays out of the line, and keeps its number in the group
		       -- (`came`).
		       seq = case when is_due and j.run_at < 'infinity'
		                  then coalesce(
		                           case when j.lane_id = replace_live.lane_id
		                                 and (not groups_count
		                                      or j.group_key is not distinct from
		                                         replace_live.group_key)
		                                then j.seq end,
		                           readpast.next_in_line(replace_live.lane_id))
		             end,
		       run_at = case when j.run_at = 'infinity' then j.run_at else due end,
		       claim_no = j.claim_no + 1,
		       attempt = 0,
		       lost = 0,
		       max_attempts = replace_live.max_attempts,
		       worker_id = null,
		       last_error = null,
		       failures = null,
		       kind = replace_live.kind,
		       headers = replace_live.headers,
		       payload = replace_live.payload,
		       slot_epoch = null,
		       came = case when j.run_at = 'infinity' then j.came end,
		       extra = replace_live.extra,
		       group_key = replace_live.group_key
		 where j.id = replace_live.id and j.lease_until is null
		   and (turn = 2 or j.group_key is null and replace_live.group_key is null);
		if found and turn = 2 then
			perform readpast.move_slot(id);
			perform readpast.block_barred(array[id]);
			return 2;
		elsif found then
			return 2;
		end if;
		-- A job that becomes scheduled keeps no slot for a retry: its attempts begin again.
		perform readpast.leave_place(
			id, lane_id, case when is_due then replace_live.group_key end, is_due);
	end loop;
	return 1;
end
$body$;
