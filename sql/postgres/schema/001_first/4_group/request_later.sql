-- request_later: carry out a request to look at all groups of a queue whose names come
-- after a name. Each call replaces it by requests for the next admit_slice() groups that
-- have waiting jobs, and by one for the groups after them. So a change of the limit is
-- quick, however many groups wait. In a queue without a group limit each call also
-- deletes some slots that were left over from an earlier limit.
-- queue_id: the queue.
-- after: the name. '' begins with the first group.
-- Result: none.
-- Locks: the request, and slots. Rows that other transactions have locked are skipped.

create function readpast.request_later(queue_id integer, after text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_variable
declare
	last text := after;
	left_over integer;
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
	delete from readpast.group_slot s
	 where s.ctid = any (array(
	           select s.ctid from readpast.group_slot s
	            where s.queue_id = request_later.queue_id
	              and exists (select 1 from readpast.queue q
	                           where q.id = s.queue_id and q.group_limit = 0)
	            limit readpast.admit_slice()
	              for update skip locked));
	get diagnostics left_over = row_count;
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
	if last is not null or left_over > 0 then
		insert into readpast.group_recheck (queue_id, group_key, and_later)
		values (request_later.queue_id, after, true);
	end if;
end
$body$;
