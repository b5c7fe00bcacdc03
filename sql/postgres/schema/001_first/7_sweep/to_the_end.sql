-- to_the_end: move jobs of a lane (a queue, a priority and a class, see lane_of()) to
-- the end of the lane. The jobs keep their order among themselves.
-- ids: the jobs.
-- before: the last value of the sequence `line`, read before this transaction draws
-- numbers for the jobs. So the new numbers are larger.
-- Locks: only the jobs' rows, which the caller has locked already.

create function readpast.to_the_end(ids bigint[], before bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	update readpast.job j
	   set seq = o.new_seq
	  from (select j.id, nextval('readpast.line') as new_seq
	          from readpast.job j
	         where j.id = any (ids)
	         order by j.seq) o
	 where j.id = o.id;
	perform readpast.note_moved(ids, before);
end
$body$;
