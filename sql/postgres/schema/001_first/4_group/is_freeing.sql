-- is_freeing: say whether an open transaction may be deleting a slot of a group. The xmax
-- of such a slot is not 0. This is also so after a deletion that was rolled back.
-- queue_id, group_key: the group.
-- Result: true or false.
-- Locks: none.

create function readpast.is_freeing(queue_id integer, group_key text)
returns boolean
language sql volatile
as $body$
select exists (
       select 1
         from (select s.xmax as deleter
                 from readpast.group_slot s
                where s.queue_id operator(pg_catalog.=) is_freeing.queue_id
                  and s.group_key operator(pg_catalog.=) is_freeing.group_key
                order by s.queue_id desc, s.group_key desc, s.job_id desc
                limit (select q.group_limit from readpast.queue q
                        where q.id operator(pg_catalog.=) is_freeing.queue_id)) u
        where u.deleter operator(pg_catalog.<>) '0'::pg_catalog.xid)
$body$;
