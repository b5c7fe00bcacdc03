-- sweep_rest: Workers not seen for an hour, tallies older than a minute, what
-- sleepers left behind that died asleep, notes of short leases; lanes that are
-- new since the last time.

create function readpast.sweep_rest() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.worker w
	 where w.ctid = any (array(
	           select w.ctid from readpast.worker w
	            where w.seen_at < moment - interval '1 hour'
	              for update skip locked));
	delete from readpast.tally t
	 where t.ctid = any (array(
	           select t.ctid from readpast.tally t
	            where t.second < extract(epoch from moment)::bigint - 60
	              and t.second > extract(epoch from moment)::bigint - 3600
	              for update skip locked));
	delete from readpast.sleeper s
	 where s.ctid = any (array(
	           select s.ctid from readpast.queue q
	             join readpast.sleeper s on s.queue_id = q.id
	            where s.until between moment - interval '10 minutes'
	                              and moment - interval '1 minute'
	              for update of s skip locked));
	delete from readpast.short s
	 where s.ctid = any (array(
	           select s.ctid from readpast.short s
	            where s.until < moment
	              for update skip locked));
	-- A queue's own priority has its lane, also if somebody changed it by hand.
	perform readpast.open_own_lane(q.name)
	   from readpast.queue q
	  where get_bit(q.opened, q.priority) = 0;
	update readpast.queue q
	   set opened = t.priorities
	  from (select q.id, n.priorities
	          from (select readpast.queue_of(l.lane_id) as id,
	                       bit_or('1'::bit(256)
	                              >> readpast.priority_of(l.lane_id))
	                       as priorities
	                  from readpast.lane l
	                 where l.lane_id % 4 = 2
	                 group by 1) n
	          join readpast.queue q on q.id = n.id
	         where q.opened <> n.priorities
	           for no key update of q skip locked) t
	 where q.id = t.id;
	perform readpast.sweep_dropped();
	perform readpast.rouse();
end
$body$;
