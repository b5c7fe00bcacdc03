-- open_slots: count the slots of a group that are not used. The count reads the newest
-- slots first, so in a busy group it does not read the dead index entries of older
-- jobs, which vacuum cannot remove while an old snapshot is open.
-- queue_id, group_key: the group.
-- group_limit: how many slots the group has.
-- Rows: one, with the number of unused slots, at least 0. The function is `stable` and
-- returns a table, so that the planner can inline it into the calling query.
-- Locks: none. The result stays right only while the caller holds the group's lock, see
-- lock_groups().

create function readpast.open_slots(queue_id integer, group_key text,
                                    group_limit integer)
returns table (n integer)
language sql stable
as $body$
select group_limit operator(pg_catalog.-) (
       select pg_catalog.count(*)
         from (select 1
                 from readpast.group_slot s
                where s.queue_id operator(pg_catalog.=) open_slots.queue_id
                  and s.group_key operator(pg_catalog.=) open_slots.group_key
                order by s.queue_id desc, s.group_key desc, s.job_id desc
                limit open_slots.group_limit) u)::pg_catalog.int4
$body$;
