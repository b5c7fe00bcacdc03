-- take_over: move the jobs of a dropped queue into a queue of the same name, which is
-- created if it does not exist.
-- queue_id: the dropped queue.
-- queue: the name of the dropped queue.
-- Locks: the jobs' rows, and for each of them the rows that take_over_job() locks, and
-- a row of `waiter`, if a worker waits. Jobs that other transactions have locked are
-- left for the next sweep. The call may have to wait for an open transaction that
-- creates the queue, or that inserts a job with the unique key of one of these jobs.
-- Each such wait ends after 50 ms, because other sessions may wait for the locks of the
-- sweep that makes this call. After a failed wait for the queue, all jobs are left for
-- the next sweep. After a failed wait for a key, only the job with that key is left.

create function readpast.take_over(queue_id integer, queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
	live   bigint[];
	kept   bigint[];
	new_id integer;
	it     record;
begin
	select array_agg(l.id) filter (where l.live),
	       array_agg(l.id) filter (where not l.live)
	  into live, kept
	  from readpast.left_in(take_over.queue_id) l;
	if live is null and kept is null then
		return;
	end if;
	perform readpast.queue_create(queue);
	select q.id into new_id from readpast.queue q where q.name = queue;
	update readpast.archive a
	   set queue_id = new_id
	 where a.id = any (array(
	           select a.id from readpast.archive a
	            where a.id = any (kept) and a.queue_id = take_over.queue_id
	              for update skip locked));
	for it in
		select j.id
		  from readpast.job j
		 where j.id = any (live) and j.queue_id = take_over.queue_id
		 order by j.id
		   for update skip locked
	loop
		perform readpast.take_over_job(it.id, new_id);
	end loop;
	perform readpast.wake(new_id);
exception when lock_not_available then
	null;
end
$body$;
