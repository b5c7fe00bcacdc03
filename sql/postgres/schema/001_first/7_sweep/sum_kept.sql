-- sum_kept: merge the rows of kept_count. Several rows of one queue and state become
-- one row with their sum, or no row if the sum is 0. The total stays the same, so
-- readers never see a wrong count.
-- Locks: the rows that the routine deletes. Rows that other transactions have locked
-- are skipped.

create function readpast.sum_kept() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	with gone as (
		delete from readpast.kept_count k
		 where k.ctid = any (array(
		           select k.ctid
		             from (select k.queue_id, k.state
		                     from readpast.kept_count k
		                    group by 1, 2
		                   having count(*) > 1 or sum(k.change) = 0) s
		             join readpast.kept_count k
		               on k.queue_id = s.queue_id and k.state = s.state
		              for update of k skip locked))
		returning k.queue_id, k.state, k.change)
	insert into readpast.kept_count (queue_id, state, change)
	select g.queue_id, g.state, sum(g.change)
	  from gone g
	 group by 1, 2
	having sum(g.change) <> 0;
end
$body$;
