-- queue_pause: pause a queue if :paused is 1. End its pause if :paused is 0. See the
-- routine queue_pause().

select p.id
  from readpast.queue_pause(:queue, :paused::bigint::integer::boolean,
                            :reason,
                            :joined::bigint::integer::boolean) as p(id);
