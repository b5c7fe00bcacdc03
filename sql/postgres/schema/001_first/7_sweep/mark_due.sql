-- mark_due: Move the mark of what has come, up to a time that no transaction
-- still open can have put a job before.

create function readpast.mark_due(queue_id integer, since timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	til timestamptz;
begin
	select s.read_at - interval '1 second' into til
	  from readpast.seal s
	 where s.next_xid <= pg_snapshot_xmin(pg_current_snapshot())
	 order by s.seq desc
	 limit 1;
	if til > since and not exists (
		select 1 from readpast.job j
		 where j.queue_id = mark_due.queue_id and j.seq is null
		   and j.run_at >= since and j.run_at < til)
	then
		insert into readpast.mark (lane_id, head, made_at)
		values (-queue_id, readpast.epoch_us(til), clock_timestamp());
		delete from readpast.mark m
		 where m.ctid = any (array(
		           select m.ctid from readpast.mark m
		            where m.lane_id = -queue_id and m.head < readpast.epoch_us(til)
		              and m.head >= coalesce(readpast.epoch_us(
		                                         nullif(since, '-infinity')), 0)
		              for update skip locked));
	end if;
end
$body$;
