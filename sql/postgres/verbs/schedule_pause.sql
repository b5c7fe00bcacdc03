-- schedule_pause: pause a schedule if :paused is 1. If :paused is 0, end its pause and
-- set the time of its next fire to :next_at. A resume of a schedule that is not paused
-- changes nothing, and returns no row.

select p.id
  from readpast.set_pause(:name, :paused::bigint::integer::boolean,
                          readpast.at_ms(:next_at)) as p(id)
 where p.id is not null;
