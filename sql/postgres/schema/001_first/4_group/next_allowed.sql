-- next_allowed: lock the next ready jobs of a lane, like lock_next(), and divide them into
-- those that may run now and those that may not (see barred_jobs()). The later ready jobs
-- of the barred jobs' groups count as barred, too, so that the order of each group is
-- kept.
-- lane_id, head, most: the parameters of lock_next().
-- Result:
--   places: the places (ctid) of the jobs that may run now, in the order of the line.
--   barred: the places of the barred jobs. They may be in other lanes of the queue.
-- Locks: the rows of all these jobs, for update. Rows that other transactions have
-- locked are skipped.

create function readpast.next_allowed(lane_id bigint, head bigint, most integer,
                                      out places tid[], out barred tid[])
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its record;
	ids bigint[];
begin
	places := readpast.lock_next(lane_id, head, most);
	barred := '{}';
	select case when q.group_limit > 0 then q.group_epoch end as epoch,
	       q.holds_until > clock_timestamp() as any_held
	  into its
	  from readpast.queue q
	 where q.id = readpast.queue_of(next_allowed.lane_id);
	ids := array(select j.id
	               from readpast.job j
	              where j.ctid = any (places) and j.group_key is not null
	                and (j.slot_epoch is distinct from its.epoch
	                     or its.any_held));
	if ids <> '{}' then
		ids := readpast.barred_jobs(ids);
	end if;
	if ids <> '{}' then
		ids := ids || readpast.lock_later(ids);
		barred := array(select j.ctid from readpast.job j where j.id = any (ids));
		places := array(select p.place
		                  from unnest(places) with ordinality as p(place, number)
		                 where p.place <> all (barred)
		                 order by p.number);
	end if;
end
$body$;
