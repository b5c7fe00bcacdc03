-- room_in_group: how many ready jobs of a group may an enqueue add to the ready line? The
-- others must wait.
-- queue_id, group_key: the group.
-- group_limit: the queue's group limit, or 0.
-- any_held: true if a group of the queue may be held.
-- is_locked: true if the transaction has locked the group, see lock_groups(), and has
-- read the group limit after that.
-- Rows: one, with the number of jobs. The function is `stable` and returns a table, so
-- that the planner can inline it into the calling query.
-- Locks: none.

create function readpast.room_in_group(queue_id integer, group_key text,
                                       group_limit integer, any_held boolean,
                                       is_locked boolean)
returns table (n integer)
language sql stable
as $body$
select case when any_held and readpast.is_held(room_in_group.queue_id,
                                               room_in_group.group_key) then 0
            when group_limit operator(pg_catalog.=) 0 then 2147483647
            when not is_locked then 0
            else (select case when o.n operator(pg_catalog.=) 0
                                   or exists (
                                      select 1
                                        from readpast.group_wait w
                                       where w.queue_id operator(pg_catalog.=)
                                             room_in_group.queue_id
                                         and w.group_key operator(pg_catalog.=)
                                             room_in_group.group_key) then 0
                              else o.n end
                    from readpast.open_slots(room_in_group.queue_id,
                                             room_in_group.group_key,
                                             room_in_group.group_limit) o) end
$body$;
