-- clear: Take these jobs out from between two numbers of a lane: what is ready
-- goes to its end, what runs leaves the line. What is locked is a stray.

create function readpast.clear(ids bigint[], lane_id bigint, low bigint,
                               high bigint)
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	moment  timestamptz := clock_timestamp();
	before  bigint := (select s.last_value from readpast.line s);
	ready   bigint[];
	running bigint[];
	expired bigint[];
begin
	select array_agg(l.id) filter (where l.lease_until is null),
	       array_agg(l.id) filter (where l.lease_until > moment),
	       array_agg(l.id) filter (where l.lease_until <= moment)
	  into ready, running, expired
	  from (select j.id, j.lease_until
	          from readpast.job j
	         where j.id = any (ids) and j.lane_id = clear.lane_id
	           and j.seq >= low and j.seq < high
	         order by j.id
	           for update skip locked) l;
	if ready is not null then
		update readpast.job j
		   set seq = o.new_seq
		  from (select j.id, nextval('readpast.line') as new_seq
		          from readpast.job j
		         where j.id = any (ready)
		         order by j.seq) o
		 where j.id = o.id;
		perform readpast.note_moved(ready, before);
	end if;
	if running is not null then
		update readpast.job j
		   set seq = null, run_at = j.lease_until
		 where j.id = any (running);
	end if;
	if expired is not null then
		return query select * from readpast.expire(expired);
	end if;
	insert into readpast.stray (lane_id, first, last)
	select j.lane_id, j.seq, j.seq
	  from readpast.job j
	 where j.id = any (ids) and j.lane_id = clear.lane_id
	   and j.seq >= low and j.seq < high;
end
$body$;
