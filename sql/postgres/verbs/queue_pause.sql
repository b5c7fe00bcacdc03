-- queue_pause: stop handing out jobs (:paused), or go on. See the routine.

select p.id
  from readpast.queue_pause(:queue, :paused::bigint::integer::boolean,
                            :reason) as p(id);
