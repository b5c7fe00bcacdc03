-- start_group_limit: a queue gets its first group limit, so give its running jobs the
-- slots of their groups, even more than the limit. Slots that an earlier limit has left over are deleted. Jobs of
-- claims that have not committed yet are not counted.
-- queue_id: the queue.
-- Result: none.
-- Locks: the queue's row, and the slots that are deleted.

create function readpast.start_group_limit(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	delete from readpast.group_slot s
	 where s.queue_id = start_group_limit.queue_id;
	insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
	select j.queue_id, (j.extra).group_key, j.id, readpast.priority_of(j.lane_id),
	       coalesce(j.seq, 0)
	  from readpast.running_in(start_group_limit.queue_id, :most_limit) r
	  join readpast.job j on j.id = r.id
	 where (j.extra).group_key is not null;
	update readpast.queue q
	   set group_epoch = nextval('readpast.line'),
	       group_lowered = exists (select 1 from readpast.group_slot s
	                                where s.queue_id = q.id
	                                group by s.group_key
	                               having count(*) > q.group_limit)
	 where q.id = start_group_limit.queue_id;
end
$body$;
