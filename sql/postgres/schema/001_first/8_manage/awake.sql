-- awake: It is awake: nobody needs to wake it. Who is just doing so is not
-- waited for.

create function readpast.awake(worker_id bigint, queues text[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.sleeper s
	 where s.ctid = any (array(
	           select s.ctid
	             from readpast.queue q
	             join readpast.sleeper s
	               on s.queue_id = q.id and s.until > moment
	            where q.name = any (queues) and s.worker_id = awake.worker_id
	              for update of s skip locked));
end
$body$;
