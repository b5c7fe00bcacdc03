-- hold_group: hold a group, or end its hold. Ready jobs of the group leave the ready line:
-- those that have a slot (the right to run) and, if the queue has no group limit, those
-- that leave_line() examines. Other ready jobs leave it when a claim meets them, see
-- lock_allowed().
-- queue_id, group_key: the group.
-- til: the end of the hold. Null: it ends now.
-- joined: see stays_open(). If the transaction may stay open when a hold ends, the first
-- jobs of the group are admitted later, by the next claim or sweep, because this
-- transaction would hold the locks of groups for too long.
-- Result: none.
-- Locks: the row of the hold, and the jobs that leave the line; or, when a hold ends, the
-- locks of admit_requested(). Jobs that other transactions have locked are skipped.

create function readpast.hold_group(queue_id integer, group_key text,
                                    til timestamptz, joined boolean)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_variable
declare
	ready bigint[];
begin
	if til is null then
		delete from readpast.group_hold h
		 where h.queue_id = hold_group.queue_id and h.group_key = hold_group.group_key;
		if found then
			insert into readpast.group_recheck (queue_id, group_key)
			values (queue_id, group_key);
		end if;
		if not readpast.stays_open(joined)
		   and current_setting('transaction_isolation') = 'read committed' then
			perform readpast.admit_requested(queue_id);
		end if;
		return;
	end if;
	insert into readpast.group_hold (queue_id, group_key, until)
	values (queue_id, group_key, til)
	    on conflict on constraint group_hold_pkey do update set until = excluded.until;
	ready := array(select j.id
	                 from readpast.group_slot s
	                 join readpast.job j on j.id = s.job_id
	                where s.queue_id = hold_group.queue_id
	                  and s.group_key = hold_group.group_key
	                  and j.seq is not null and j.lease_until is null
	                  for update of j skip locked);
	if ready <> '{}' then
		perform readpast.block_jobs(ready);
	end if;
	perform readpast.leave_line(q.id)
	   from readpast.queue q
	  where q.id = hold_group.queue_id and q.group_limit = 0
	    and current_setting('transaction_isolation') = 'read committed';
end
$body$;
