-- merge_requests: return one recheck request for each group, which stands for all
-- requests of the group. Its place is not later than any of their places: it has their
-- least priority and their least number. Its place is before all jobs in two cases:
--   More requests may be stored, see may_be_more().
--   A hold of the group is stored. Then jobs of the group may wait without a request,
--     because a request for all of them is added when the hold is deleted.
-- requests: the result of next_requests().
-- group_keys: the groups.
-- Result: the requests. Those that stand for many groups are ignored.
-- Locks: none.

create function readpast.merge_requests(requests readpast.group_recheck[],
                                        group_keys text[])
returns readpast.group_recheck[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	is_more boolean := readpast.may_be_more(requests);
begin
	return array(
		select (0, '0', m.queue_id, m.group_key, false,
		        case when m.is_all then -1 else m.priority end,
		        case when m.is_all then 0 else m.came end)::readpast.group_recheck
		  from (select r.queue_id, r.group_key,
		               min(r.priority) as priority, min(r.came) as came,
		               is_more
		               or exists (select 1 from readpast.group_hold h
		                           where h.queue_id = r.queue_id
		                             and h.group_key = r.group_key) as is_all
		          from unnest(requests) r
		          join unnest(group_keys) as g(name) on g.name = r.group_key
		         where not r.and_later
		         group by r.queue_id, r.group_key) m);
end
$body$;
