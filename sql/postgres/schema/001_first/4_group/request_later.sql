-- request_later: carry out a request to look at all groups of a queue whose names come
-- after a given name. The routine replaces this request by requests for the next
-- admit_slice() groups that have waiting jobs, and by a request for all groups after
-- these. So a change of the limit is quick, however many groups wait.
-- queue_id: the queue.
-- after: the given name. '' comes before the names of all groups.
-- Result: none.
-- Locks: the request, if no other transaction has locked it.

create function readpast.request_later(queue_id integer, after text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_variable
declare
	last text := after;
begin
	delete from readpast.group_recheck r
	 where r.ctid = any (array(
	           select r.ctid from readpast.group_recheck r
	            where r.queue_id = request_later.queue_id
	              and r.group_key = after and r.and_later
	              for update skip locked));
	if not found then
		return;
	end if;
	for n in 1 .. readpast.admit_slice() loop
		last := (select w.group_key
		           from readpast.group_wait w
		          where w.queue_id = request_later.queue_id
		            and w.group_key > last
		          order by w.queue_id, w.group_key
		          limit 1);
		exit when last is null;
		insert into readpast.group_recheck (queue_id, group_key)
		values (request_later.queue_id, last);
		after := last;
	end loop;
	if last is not null then
		insert into readpast.group_recheck (queue_id, group_key, and_later)
		values (request_later.queue_id, after, true);
	end if;
end
$body$;
