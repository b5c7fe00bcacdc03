-- sum_tallies: for each queue with tallies older than a minute, replace these by one row
-- with their sums, as second 0. The totals of the queue stay the same, so readers never
-- see a wrong total. Tallies of queues that were dropped are deleted.
-- Locks: the rows that the routine deletes. Rows that other transactions have locked
-- are skipped.

create function readpast.sum_tallies() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	until bigint := extract(epoch from clock_timestamp() - readpast.tally_age());
begin
	with gone as (
		delete from readpast.tally t
		 where t.ctid = any (array(
		           select t.ctid
		             from (select distinct o.queue_id
		                     from readpast.tally o
		                    where o.second > 0 and o.second < until) old
		             join readpast.tally t
		               on t.queue_id = old.queue_id and t.second < until
		              for update of t skip locked))
		returning t.queue_id, t.done, t.failed, t.dead)
	insert into readpast.tally (second, queue_id, done, failed, dead)
	select 0, g.queue_id, sum(g.done), sum(g.failed), sum(g.dead)
	  from gone g
	  join readpast.queue q on q.id = g.queue_id
	 group by g.queue_id;
end
$body$;
