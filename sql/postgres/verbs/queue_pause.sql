-- queue_pause: pause a queue (:paused), or end its pause. See the routine
-- queue_pause().

select p.id
  from readpast.queue_pause(:queue, :paused::bigint::integer::boolean,
                            :reason) as p(id);
