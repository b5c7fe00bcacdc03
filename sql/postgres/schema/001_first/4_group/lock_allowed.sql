-- lock_allowed: lock the next ready jobs of a lane that may run now, in a queue with a
-- group limit or a held group. If it meets barred jobs (jobs that may not run now, see
-- barred_jobs()), it takes them out of the ready line and looks again. The later ready
-- jobs of their groups leave the line, too, so that the order of each group is kept.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- head, most: the parameters of lock_next().
-- joined: true if the transaction may stay open after the claim.
-- Result: the places (ctid) of the jobs' rows, in the order of the line.
-- Locks: these rows, and the rows of the jobs that leave the line, for update. Rows
-- that other transactions have locked are skipped.

create function readpast.lock_allowed(lane_id bigint, head bigint, most integer,
                                      joined boolean) returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	places tid[];
	barred bigint[];
	wider  integer := most;
	its    record;
begin
	select case when q.group_limit > 0 then q.group_epoch end as epoch,
	       q.holds_until > clock_timestamp() as any_held
	  into its
	  from readpast.queue q
	 where q.id = readpast.queue_of(lock_allowed.lane_id);
	for turn in 1 .. 3 loop
		places := case when joined then readpast.lock_alone(lane_id, head, wider)
		               else readpast.lock_next(lane_id, head, wider) end;
		barred := array(select j.id
		                  from readpast.job j
		                 where j.ctid = any (places) and (j.extra).group_key is not null
		                   and ((j.extra).slot_epoch is distinct from its.epoch
		                        or its.any_held));
		exit when barred = '{}';
		barred := readpast.barred_jobs(barred);
		exit when barred = '{}';
		barred := barred || readpast.lock_later(barred);
		-- If one job is barred, many may be. So the next turn looks at more jobs.
		wider := readpast.admit_slice();
		places := array(select p.place
		                  from unnest(places) with ordinality as p(place, number)
		                  join readpast.job j on j.ctid = p.place
		                 where j.id <> all (barred)
		                 order by p.number);
		perform readpast.block_jobs(barred);
		exit when cardinality(places) >= most;
		if not joined then
			perform readpast.admit_requested(readpast.queue_of(lane_id));
		end if;
	end loop;
	return places[:most];
end
$body$;
