-- left_between: What there is to walk over between two numbers of the line, in
-- slices: all but the thousands whose jobs are all done.

create function readpast.left_between(first bigint, last bigint)
returns table (low bigint, high bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashagg = off
as $body$
declare
	ended bigint;
begin
	foreach ended in array
		array(select e.thousand * 1000
		        from readpast.ended e
		       where e.thousand >= greatest(first, last - 1000000) / 1000
		         and e.thousand <= last / 1000
		       group by e.thousand
		      having sum(e.jobs) = 1000
		       order by e.thousand) || last
	loop
		while first < ended loop
			low := first;
			high := least(low + 5000, ended);
			return next;
			first := high;
		end loop;
		first := greatest(first, ended + 1000);
	end loop;
end
$body$;
