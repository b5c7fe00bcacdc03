-- sweep_kept: Kept jobs whose time is over are forgotten; `most` of each queue
-- and state at the most.

create function readpast.sweep_kept(most integer)
returns table (id bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	return query
	delete from readpast.archive a
	 where a.id = any (array(
	           select o.id
	             from readpast.queue q,
	                  (values (4), (5), (6)) as s(state),
	                  lateral (select a.id
	                             from readpast.archive a
	                            where a.queue_id = q.id and a.state = s.state
	                              and a.finished_at
	                                  <= clock_timestamp() - readpast.ms(
	                                         case when s.state = 4
	                                              then q.keep_done_ms
	                                              else q.keep_dead_ms end)
	                            order by a.finished_at
	                            limit most
	                              for update skip locked) o))
	returning a.id;
end
$body$;
