-- queue_pause: hand out nothing more (:paused), or go on. When it was paused
-- first stays.

select p.id
  from readpast.queue_pause(:queue, :paused::bigint::integer::boolean)
       as p(id);
