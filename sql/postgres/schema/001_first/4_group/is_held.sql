-- is_held: is a group held now, see hold_for()?
-- queue_id, group_key: the group.
-- Result: true if no job of the group may start now.
-- Locks: none.

create function readpast.is_held(queue_id integer, group_key text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return exists (select 1 from readpast.group_hold h
	                where h.queue_id = is_held.queue_id
	                  and h.group_key = is_held.group_key
	                  and h.until > clock_timestamp());
end
$body$;
