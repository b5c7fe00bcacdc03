-- usable_slots: return those of the freed slots that waiting jobs may get, and set where
-- the search for each of these jobs starts. If a limit was lowered, a group may have no
-- free slot although a slot was freed.
-- freed: the slots, which this transaction has deleted.
-- Result: the slots. `came` is the smallest possible number if the search must start at
-- the first job of the group.
-- Locks: none.

create function readpast.usable_slots(freed readpast.group_slot[])
returns readpast.group_slot[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	requests readpast.group_recheck[] := array(
		select r
		  from (select distinct f.queue_id from unnest(freed) f) f
		 cross join lateral readpast.next_requests(f.queue_id) r);
	-- True: search from the first job of each group, because other requests may be
	-- stored, or a request is for many groups.
	all_of_them boolean := cardinality(requests) >= readpast.admit_slice()
	                       or exists (select 1 from unnest(requests) r where r.and_later);
begin
	return array(
		select (f.queue_id, f.group_key, f.job_id, f.priority,
		        -- rewind_slots() does nothing if the limit was lowered
		        case when all_of_them or q.group_lowered
		                  or exists (select 1 from unnest(requests) r
		                              where r.queue_id = f.queue_id
		                                and r.group_key = f.group_key)
		             then -9223372036854775807
		             else f.came end)::readpast.group_slot
		  from (select f.queue_id, f.group_key, f.job_id, f.priority, f.came,
		               row_number() over (partition by f.queue_id, f.group_key) as number
		          from unnest(freed) f) f
		  join readpast.queue q on q.id = f.queue_id
		 where not q.group_lowered
		    or f.number <= (select o.n
		                      from readpast.open_slots(f.queue_id, f.group_key,
		                                               q.group_limit) o));
end
$body$;
