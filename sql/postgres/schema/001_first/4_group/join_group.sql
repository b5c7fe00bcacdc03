-- join_group: after the insert of a job that has a group and a unique key, give the job a
-- slot of its group, or take it out of the ready line to wait for its group, see
-- must_wait(). If the job is scheduled, or if the queue has neither a group limit nor a
-- held group, nothing changes.
-- id: the job, which this transaction has inserted.
-- moment: the time at which the job became due.
-- joined: see stays_open().
-- Result: none.
-- Locks: the locks of lock_groups().

create function readpast.join_group(id bigint, moment timestamptz, joined boolean)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	it    record;
	place record; -- the result of must_wait_one()
begin
	select j.queue_id, j.lane_id, j.seq, j.group_key into it
	  from readpast.job j
	 where j.id = join_group.id and j.seq is not null;
	if not found then
		return;
	end if;
	select m.requests, m.epoch, m.came into place
	  from readpast.must_wait_one(it.queue_id, it.group_key, joined) m;
	if place.came is not null or place.epoch is not null then
		update readpast.job j
		   set seq = case when place.came is null then j.seq end,
		       run_at = case when place.came is null then j.run_at else 'infinity' end,
		       slot_epoch = place.epoch,
		       came = place.came
		 where j.id = join_group.id;
		perform readpast.note_new(
			it.lane_id, moment, array[id], array[case when place.came is null then it.seq end],
			array[place.came], array[it.group_key], place.requests, place.epoch);
	end if;
end
$body$;
