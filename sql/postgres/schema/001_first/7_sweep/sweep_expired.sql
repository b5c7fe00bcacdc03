-- sweep_expired: Leases that ran out, of `most` jobs at the most; and the walk
-- behind the heads.

create function readpast.sweep_expired(most integer)
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	it     record;
	found  record;
	ids    bigint[];
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	return query select * from readpast.sweep_behind();
	-- Long ones: they are to come, as what is scheduled is.
	for it in select q.id, readpast.due_since(q.id) as since
	            from readpast.queue q loop
		ids := array(
			select j.id
			  from readpast.job j
			 where j.queue_id = it.id and j.seq is null
			   and j.run_at >= it.since and j.run_at <= moment
			   and j.lease_until <= moment
			 order by j.queue_id, j.run_at
			 limit most
			   for update skip locked);
		continue when ids = '{}';
		return query select * from readpast.expire(ids);
		most := most - cardinality(ids);
	end loop;
	-- Young ones: in line, around the head. What is far behind it, the walk takes
	-- out within some seconds; short leases cannot wait for that. On from a
	-- thousand to the next while any of them ran out.
	for it in
		select l.lane_id,
		       greatest(readpast.low_of(l.lane_id),
		                case when not readpast.is_short(q.lease_ms)
		                          and not exists (
		                              select 1 from readpast.short s
		                               where s.queue_id = q.id
		                                 and s.until > moment)
		                     then readpast.newest_head(l.lane_id) - 1000
		                end) as low
		  from (select distinct l.lane_id from readpast.lane l) l
		  join readpast.queue q on q.id = readpast.queue_of(l.lane_id)
	loop
		while most > 0 loop
			select array_agg(e.id) filter (where e.lease_until <= moment)
			       as ids,
			       max(e.seq) + 1 as low
			  into found
			  from (select j.id, j.seq, j.lease_until
			          from readpast.job j
			         where j.lane_id = it.lane_id and j.seq >= it.low
			         order by j.lane_id, j.seq
			         limit least(1000, most)) e;
			exit when found.ids is null;
			ids := array(
				select j.id
				  from readpast.job j
				 where j.id = any (found.ids) and j.lease_until <= moment
				   for update skip locked);
			return query select * from readpast.expire(ids);
			most := most - cardinality(ids);
			it.low := found.low;
		end loop;
	end loop;
end
$body$;
